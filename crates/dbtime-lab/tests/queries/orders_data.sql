-- Orders, parts and suppliers: the eight tables of TPC-H's schema with 22,000 rows made of numbers,
-- which is a scale of 0.0025. `{day N}` is the date N days behind 1992-01-01, as the product
-- computes it. A third of the customers have no orders.

CREATE TABLE digits (n BIGINT NOT NULL);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE numbers (n BIGINT NOT NULL PRIMARY KEY);
INSERT INTO numbers SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n
  FROM digits a, digits b, digits c, digits d WHERE d.n < 4;
CREATE TABLE words (n INTEGER NOT NULL PRIMARY KEY, range_name VARCHAR(12), finish VARCHAR(12),
  metal VARCHAR(12), measure VARCHAR(12), box VARCHAR(12), color VARCHAR(12), segment VARCHAR(12),
  priority VARCHAR(16), instruction VARCHAR(20), way VARCHAR(12));
INSERT INTO words VALUES
  (0, 'STANDARD', 'ANODIZED', 'TIN', 'SM', 'CASE', 'almond', 'AUTOMOBILE', '1-URGENT',
    'DELIVER IN PERSON', 'REG AIR'),
  (1, 'SMALL', 'BURNISHED', 'NICKEL', 'LG', 'BOX', 'forest', 'BUILDING', '2-HIGH', 'COLLECT COD',
    'AIR'),
  (2, 'MEDIUM', 'PLATED', 'BRASS', 'MED', 'BAG', 'green', 'FURNITURE', '3-MEDIUM', 'NONE',
    'RAIL'),
  (3, 'LARGE', 'POLISHED', 'STEEL', 'JUMBO', 'JAR', 'ivory', 'MACHINERY', '4-NOT SPECIFIED',
    'TAKE BACK RETURN', 'SHIP'),
  (4, 'ECONOMY', 'BRUSHED', 'COPPER', 'WRAP', 'PACK', 'navy', 'HOUSEHOLD', '5-LOW',
    'DELIVER IN PERSON', 'TRUCK'),
  (5, 'PROMO', 'ANODIZED', 'TIN', 'SM', 'PKG', 'plum', 'BUILDING', '1-URGENT', 'COLLECT COD',
    'MAIL'),
  (6, 'STANDARD', 'PLATED', 'BRASS', 'LG', 'DRUM', 'rose', 'MACHINERY', '2-HIGH', 'NONE', 'FOB');

CREATE TABLE region (r_regionkey INTEGER NOT NULL PRIMARY KEY, r_name VARCHAR(25),
  r_comment VARCHAR(60));
INSERT INTO region VALUES (0, 'AFRICA', 'south'), (1, 'AMERICA', 'west'), (2, 'ASIA', 'east'),
  (3, 'EUROPE', 'north'), (4, 'MIDDLE EAST', 'between');
CREATE TABLE nation (n_nationkey INTEGER NOT NULL PRIMARY KEY, n_name VARCHAR(25),
  n_regionkey INTEGER, n_comment VARCHAR(60));
INSERT INTO nation VALUES (0, 'ALGERIA', 0, ''), (1, 'ARGENTINA', 1, ''), (2, 'BRAZIL', 1, ''),
  (3, 'CANADA', 1, ''), (4, 'EGYPT', 4, ''), (5, 'ETHIOPIA', 0, ''), (6, 'FRANCE', 3, ''),
  (7, 'GERMANY', 3, ''), (8, 'INDIA', 2, ''), (9, 'INDONESIA', 2, ''), (10, 'IRAN', 4, ''),
  (11, 'IRAQ', 4, ''), (12, 'JAPAN', 2, ''), (13, 'JORDAN', 4, ''), (14, 'KENYA', 0, ''),
  (15, 'MOROCCO', 0, ''), (16, 'MOZAMBIQUE', 0, ''), (17, 'PERU', 1, ''), (18, 'CHINA', 2, ''),
  (19, 'ROMANIA', 3, ''), (20, 'SAUDI ARABIA', 4, ''), (21, 'VIETNAM', 2, ''),
  (22, 'RUSSIA', 3, ''), (23, 'UNITED KINGDOM', 3, ''), (24, 'UNITED STATES', 1, '');
CREATE TABLE supplier (s_suppkey INTEGER NOT NULL PRIMARY KEY, s_name VARCHAR(25),
  s_address VARCHAR(40), s_nationkey INTEGER, s_phone VARCHAR(15), s_acctbal DECIMAL(15,2),
  s_comment VARCHAR(60));
INSERT INTO supplier SELECT s.n, concat('Supplier#', s.n), concat('Quay ', s.n * 7), s.n % 25,
    concat(10 + s.n % 25, '-', 1000 + s.n * 37), s.n * 613 % 11000 - 999,
    CASE WHEN s.n % 11 = 0 THEN 'Customer had Complaints' ELSE 'prompt' END
  FROM numbers s WHERE s.n BETWEEN 1 AND 50;
CREATE TABLE part (p_partkey INTEGER NOT NULL PRIMARY KEY, p_name VARCHAR(60), p_mfgr VARCHAR(25),
  p_brand VARCHAR(10), p_type VARCHAR(30), p_size INTEGER, p_container VARCHAR(12),
  p_retailprice DECIMAL(15,2), p_comment VARCHAR(30));
INSERT INTO part SELECT s.n, concat(a.color, ' ', b.color), concat('Maker#', 1 + s.n % 5),
    concat('Brand#', 1 + s.n % 5, 1 + s.n * 3 % 7 % 5),
    concat(a.range_name, ' ', b.finish, ' ', c.metal), 1 + s.n * 17 % 50,
    concat(c.measure, ' ', a.box), 900 + s.n * 31 % 1100, 'smooth'
  FROM numbers s JOIN words a ON a.n = s.n * 5 % 7 JOIN words b ON b.n = s.n * 11 % 13 % 7
    JOIN words c ON c.n = s.n % 5 WHERE s.n BETWEEN 1 AND 500;
CREATE TABLE partsupp (ps_partkey INTEGER NOT NULL, ps_suppkey INTEGER NOT NULL,
  ps_availqty INTEGER, ps_supplycost DECIMAL(15,2), ps_comment VARCHAR(30),
  PRIMARY KEY (ps_partkey, ps_suppkey));
INSERT INTO partsupp SELECT p.p_partkey, 1 + (p.p_partkey + s.n * 13) % 50,
    1 + (p.p_partkey * 71 + s.n * 997) % 9999, 1 + (p.p_partkey * 13 + s.n * 401) % 1000, ''
  FROM part p JOIN numbers s ON s.n < 4;
CREATE TABLE customer (c_custkey INTEGER NOT NULL PRIMARY KEY, c_name VARCHAR(25),
  c_address VARCHAR(40), c_nationkey INTEGER, c_phone VARCHAR(15), c_acctbal DECIMAL(15,2),
  c_mktsegment VARCHAR(12), c_comment VARCHAR(60));
INSERT INTO customer SELECT s.n, concat('Customer#', s.n), concat('Street ', s.n * 3), s.n * 7 % 25,
    concat(10 + s.n * 7 % 25, '-', 1000 + s.n * 37 % 9000), s.n * 617 % 11000 - 999, w.segment,
    'regular'
  FROM numbers s JOIN words w ON w.n = s.n % 5 WHERE s.n BETWEEN 1 AND 375;
CREATE TABLE orders (o_orderkey INTEGER NOT NULL PRIMARY KEY, o_custkey INTEGER,
  o_orderstatus VARCHAR(1), o_totalprice DECIMAL(15,2), o_orderdate DATE,
  o_orderpriority VARCHAR(16), o_clerk VARCHAR(16), o_shippriority INTEGER,
  o_comment VARCHAR(60));
INSERT INTO orders SELECT s.n, 1 + 3 * (s.n * 17 % 125) + s.n % 2,
    CASE s.n % 4 WHEN 0 THEN 'P' WHEN 1 THEN 'O' ELSE 'F' END, 1000 + s.n * 8191 % 400000,
    {day s.n * 7919 % 2400}, w.priority, concat('Clerk#', s.n % 30), 0,
    CASE WHEN s.n % 9 = 0 THEN 'of special care requests' ELSE 'packed' END
  FROM numbers s JOIN words w ON w.n = s.n * 3 % 5 WHERE s.n BETWEEN 1 AND 3750;
CREATE TABLE lineitem (l_orderkey INTEGER NOT NULL, l_partkey INTEGER, l_suppkey INTEGER,
  l_linenumber INTEGER NOT NULL, l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2),
  l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag VARCHAR(1), l_linestatus VARCHAR(1),
  l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR(25),
  l_shipmode VARCHAR(10), l_comment VARCHAR(44), PRIMARY KEY (l_orderkey, l_linenumber));
INSERT INTO lineitem SELECT i.k, i.part_nr, 1 + (i.part_nr + (i.k + i.line) % 4 * 13) % 50, i.line,
    i.quantity, i.quantity * (900 + i.part_nr * 31 % 1100), (i.k + i.line * 3) % 11 / 100.0,
    (i.k * 5 + i.line) % 9 / 100.0,
    CASE WHEN i.shipped > 1245 THEN 'N' WHEN i.k % 2 = 0 THEN 'R' ELSE 'A' END,
    CASE WHEN i.shipped > 1263 THEN 'O' ELSE 'F' END, {day i.shipped},
    {day i.ordered + 30 + (i.k * 7 + i.line * 11) % 61}, {day i.shipped + 1 + i.k % 30},
    w.instruction, v.way, 'packed well'
  FROM (SELECT o.o_orderkey AS k, s.n + 1 AS line, o.o_orderkey * 7919 % 2400 AS ordered,
      o.o_orderkey * 7919 % 2400 + 1 + (o.o_orderkey * 13 + s.n * 37) % 121 AS shipped,
      1 + (o.o_orderkey * 101 + s.n * 211) % 500 AS part_nr,
      1 + (o.o_orderkey * 3 + s.n * 19) % 50 AS quantity
    FROM orders o JOIN numbers s ON s.n < 7 AND s.n <= o.o_orderkey * 11 % 7) i
    JOIN words w ON w.n = (i.k + i.line) % 4 JOIN words v ON v.n = (i.k * 3 + i.line * 5) % 7;

CREATE INDEX supplier_nation ON supplier (s_nationkey);
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);
CREATE INDEX customer_nation ON customer (c_nationkey);
CREATE INDEX orders_customer ON orders (o_custkey);
CREATE INDEX orders_date ON orders (o_orderdate);
CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_date ON lineitem (l_shipdate);
DROP TABLE digits;
DROP TABLE numbers;
DROP TABLE words;
