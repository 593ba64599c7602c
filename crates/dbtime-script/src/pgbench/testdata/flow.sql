/* flow */ BEGIN;
\set n random(1, 4)
\if :n = 1
SELECT :client_id AS c, 'one', :n;
\elif :n = 2
  \if random(0, 1) = 0
SELECT :client_id AS c, 'two a', :n;
  \else
SELECT :client_id AS c, 'two b', :n;
  \endif
\elif :n = 3
\sleep 10 us
SELECT :client_id AS c, 'three', :n
  -- a comment inside
  , ':n';
\else
SELECT :client_id AS c, 'four', :n \; SELECT :client_id AS c, 'again', :n;
\endif
SELECT 17 AS x, 4 AS y \gset p_
SELECT 5 AS z \; SELECT 6 AS w \aset
\set sum :p_x + :p_y + :z + :w
SELECT :client_id AS c, :sum, :p_x
\set t debug(:sum) + :given
SELECT :client_id AS c, :t, ':text' ;
END
