\set a random(1, 100)
\set b :a / 7.0
\set n null
\startpipeline
BEGIN;
SELECT :client_id AS c, :a::int, :b::float8, :n::text;
SELECT :client_id AS c, :nothing::int;
END;
\endpipeline
SELECT :client_id AS c, :a::text, :a = :a AND true AS t;
