-- every random function, hash and permutation
\set j random(-5000000000, 4000000000000000000)
\set a random(1, 1000000)
\set b random_exponential(1, 1000, 2.5)
\set c random_gaussian(1, 1000, 3.5)
\set d random_zipfian(1, 1000, 1.2)
\set e random_zipfian(1, 1000, 2.7)
\set f permute(:a, 1000001)
\set g hash(:a)
\set h hash_fnv1a(:a)
\set i hash_murmur2(:a, 17)
\set k sqrt(:a) / 3
\set l :k > 200
\set m case when :l then null else 1.5 end
SELECT :client_id AS c, :j, :a, :b, :c, :d, :e, :f;
SELECT :client_id AS c, :g, :h, :i, :k, ':l', :m, :random_seed, :default_seed, :scale;
