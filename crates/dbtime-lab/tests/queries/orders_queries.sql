-- The questions of TPC-H's 22 queries in words of its own for the tables of orders_data.sql. `--`
-- before a query has its number and what it calls the tables it reads. `{year D}` is the year of a
-- date, `{later D N UNIT}` a date after another one, as the product computes it.

-- 1 lineitem
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS base,
  sum(l_extendedprice * (1 - l_discount)) AS reduced,
  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charged, avg(l_quantity) AS mean_quantity,
  avg(l_extendedprice) AS mean_price, avg(l_discount) AS mean_discount, count(*) AS items
FROM lineitem WHERE l_shipdate <= '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;

-- 2 part supplier partsupp nation region ps2 s2 n2 r2
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part, supplier, partsupp, nation, region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS'
  AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
  AND ps_supplycost = (SELECT min(ps2.ps_supplycost) FROM partsupp ps2, supplier s2, nation n2,
      region r2 WHERE ps2.ps_partkey = p_partkey AND s2.s_suppkey = ps2.ps_suppkey
      AND s2.s_nationkey = n2.n_nationkey AND n2.n_regionkey = r2.r_regionkey
      AND r2.r_name = 'EUROPE')
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100;

-- 3 customer orders lineitem
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10;

-- 4 orders lineitem
SELECT o_orderpriority, count(*) AS orders_late FROM orders
WHERE o_orderdate >= '1993-07-01' AND o_orderdate < {later 1993-07-01 3 month}
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority;

-- 5 customer orders lineitem supplier nation region
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderdate >= '1994-01-01' AND o_orderdate < {later 1994-01-01 1 year}
GROUP BY n_name ORDER BY revenue DESC;

-- 6 lineitem
SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
WHERE l_shipdate >= '1994-01-01' AND l_shipdate < {later 1994-01-01 1 year}
  AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24;

-- 7 supplier lineitem orders customer n1 n2
SELECT seller, buyer, ship_year, sum(volume) AS revenue
FROM (SELECT n1.n_name AS seller, n2.n_name AS buyer, {year l_shipdate} AS ship_year,
      l_extendedprice * (1 - l_discount) AS volume
    FROM supplier, lineitem, orders, customer, nation n1, nation n2
    WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
      AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
      AND (n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY'
        OR n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE')
      AND l_shipdate BETWEEN '1995-01-01' AND '1996-12-31') AS shipping
GROUP BY seller, buyer, ship_year ORDER BY seller, buyer, ship_year;

-- 8 part supplier lineitem orders customer n1 n2 region
SELECT order_year, sum(CASE WHEN seller = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume) AS share_sold
FROM (SELECT {year o_orderdate} AS order_year, l_extendedprice * (1 - l_discount) AS volume,
      n2.n_name AS seller
    FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
    WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey
      AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey
      AND r_name = 'AMERICA' AND s_nationkey = n2.n_nationkey
      AND o_orderdate BETWEEN '1995-01-01' AND '1996-12-31'
      AND p_type = 'ECONOMY ANODIZED STEEL') AS sold
GROUP BY order_year ORDER BY order_year;

-- 9 part supplier lineitem partsupp orders nation
SELECT seller, order_year, sum(amount) AS profit
FROM (SELECT n_name AS seller, {year o_orderdate} AS order_year,
      l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
    FROM part, supplier, lineitem, partsupp, orders, nation
    WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey
      AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey
      AND p_name LIKE '%green%') AS earned
GROUP BY seller, order_year ORDER BY seller, order_year DESC;

-- 10 customer orders lineitem nation
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name,
  c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= '1993-10-01'
  AND o_orderdate < {later 1993-10-01 3 month} AND l_returnflag = 'R'
  AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC LIMIT 20;

-- 11 partsupp supplier nation ps2 s2 n2
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS stock FROM partsupp, supplier, nation
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps2.ps_supplycost * ps2.ps_availqty) * 0.01
    FROM partsupp ps2, supplier s2, nation n2 WHERE ps2.ps_suppkey = s2.s_suppkey
    AND s2.s_nationkey = n2.n_nationkey AND n2.n_name = 'GERMANY')
ORDER BY stock DESC;

-- 12 orders lineitem
SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_lines,
  sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_lines
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate AND l_receiptdate >= '1994-01-01'
  AND l_receiptdate < {later 1994-01-01 1 year}
GROUP BY l_shipmode ORDER BY l_shipmode;

-- 13 customer orders
SELECT order_count, count(*) AS customers
FROM (SELECT c_custkey, count(o_orderkey) AS order_count
    FROM customer LEFT JOIN orders ON c_custkey = o_custkey
      AND o_comment NOT LIKE '%special%requests%'
    GROUP BY c_custkey) AS counted
GROUP BY order_count ORDER BY customers DESC, order_count DESC;

-- 14 lineitem part
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
  / sum(l_extendedprice * (1 - l_discount)) AS promotion
FROM lineitem, part
WHERE l_partkey = p_partkey AND l_shipdate >= '1995-09-01'
  AND l_shipdate < {later 1995-09-01 1 month};

-- 15 supplier lineitem l2
SELECT s_suppkey, s_name, s_address, s_phone, total
FROM supplier, (SELECT l_suppkey AS supplier_nr, sum(l_extendedprice * (1 - l_discount)) AS total
    FROM lineitem WHERE l_shipdate >= '1996-01-01' AND l_shipdate < {later 1996-01-01 3 month}
    GROUP BY l_suppkey) AS revenue
WHERE s_suppkey = supplier_nr AND total = (SELECT max(total_2)
    FROM (SELECT sum(l2.l_extendedprice * (1 - l2.l_discount)) AS total_2 FROM lineitem l2
      WHERE l2.l_shipdate >= '1996-01-01' AND l2.l_shipdate < {later 1996-01-01 3 month}
      GROUP BY l2.l_suppkey) AS revenues)
ORDER BY s_suppkey;

-- 16 partsupp part supplier
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers FROM partsupp, part
WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%'
  AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size ORDER BY suppliers DESC, p_brand, p_type, p_size;

-- 17 lineitem part l2
SELECT sum(l_extendedprice) / 7.0 AS yearly FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#33' AND p_container LIKE 'MED %'
  AND l_quantity < (SELECT 0.2 * avg(l2.l_quantity) FROM lineitem l2 WHERE l2.l_partkey = p_partkey);

-- 18 customer orders lineitem l2
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l2.l_orderkey FROM lineitem l2 GROUP BY l2.l_orderkey
    HAVING sum(l2.l_quantity) > 200)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate LIMIT 100;

-- 19 lineitem part
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part
WHERE p_partkey = l_partkey AND l_shipmode IN ('AIR', 'REG AIR')
  AND l_shipinstruct = 'DELIVER IN PERSON'
  AND (p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
      AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5
    OR p_brand = 'Brand#33' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
      AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10
    OR p_brand = 'Brand#24' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
      AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15);

-- 20 supplier nation partsupp part lineitem
SELECT s_name, s_address FROM supplier, nation
WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp
    WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
      AND ps_availqty > (SELECT 0.5 * sum(l_quantity) FROM lineitem
        WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= '1994-01-01'
          AND l_shipdate < {later 1994-01-01 1 year}))
  AND s_nationkey = n_nationkey AND n_name = 'CANADA'
ORDER BY s_name;

-- 21 supplier l1 orders nation l2 l3
SELECT s_name, count(*) AS waits FROM supplier, lineitem l1, orders, nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
  AND l1.l_receiptdate > l1.l_commitdate
  AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey
    AND l2.l_suppkey <> l1.l_suppkey)
  AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey
    AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate)
  AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
GROUP BY s_name ORDER BY waits DESC, s_name LIMIT 100;

-- 22 customer c2 orders
SELECT code, count(*) AS customers, sum(c_acctbal) AS balance
FROM (SELECT substr(c_phone, 1, 2) AS code, c_acctbal FROM customer
    WHERE substr(c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17')
      AND c_acctbal > (SELECT avg(c2.c_acctbal) FROM customer c2 WHERE c2.c_acctbal > 0.00
        AND substr(c2.c_phone, 1, 2) IN ('13', '31', '23', '29', '30', '18', '17'))
      AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS idle
GROUP BY code ORDER BY code;
