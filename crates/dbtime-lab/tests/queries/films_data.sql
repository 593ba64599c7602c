-- Films, their people and their companies: the 21 tables of the Join Order Benchmark's schema with
-- 67,000 rows made of numbers. A few films and people have most of the rows, and genres go with
-- films: that is what estimates of a join get wrong. Every product takes this file.

CREATE TABLE digits (n BIGINT NOT NULL);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE numbers (n BIGINT NOT NULL PRIMARY KEY);
INSERT INTO numbers SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n
  FROM digits a, digits b, digits c, digits d, digits e WHERE e.n < 2;
CREATE TABLE words (n INTEGER NOT NULL PRIMARY KEY, genre VARCHAR(20), country VARCHAR(20),
  code VARCHAR(8), noun VARCHAR(20), keyword VARCHAR(30), forename VARCHAR(20), surname VARCHAR(20));
INSERT INTO words VALUES
  (0, 'Drama', 'USA', '[us]', 'Lantern', 'sequel', 'Anna', 'Berg'),
  (1, 'Comedy', 'Germany', '[de]', 'Harbour', 'revenge', 'Boris', 'Stone'),
  (2, 'Thriller', 'France', '[fr]', 'Winter', 'murder', 'Clara', 'Rivers'),
  (3, 'Horror', 'Japan', '[jp]', 'Orchard', 'blood', 'David', 'Moreau'),
  (4, 'Action', 'Italy', '[it]', 'Falcon', 'hero', 'Elena', 'Okafor'),
  (5, 'Documentary', 'India', '[in]', 'Meridian', 'based-on-novel', 'Frank', 'Tanaka'),
  (6, 'Romance', 'Sweden', '[se]', 'Copper', 'love', 'Greta', 'Lind'),
  (7, 'Western', 'Spain', '[es]', 'Atlas', 'duel', 'Hugo', 'Duarte'),
  (8, 'Musical', 'Poland', '[pl]', 'Comet', 'dance', 'Ines', 'Novak'),
  (9, 'Fantasy', 'Denmark', '[dk]', 'Juniper', 'space', 'Jonas', 'Varga');

CREATE TABLE kind_type (id INTEGER NOT NULL PRIMARY KEY, kind VARCHAR(20));
INSERT INTO kind_type VALUES (1, 'film'), (2, 'series'), (3, 'episode'), (4, 'video'),
  (5, 'television film'), (6, 'game'), (7, 'short');
CREATE TABLE company_type (id INTEGER NOT NULL PRIMARY KEY, kind VARCHAR(20));
INSERT INTO company_type VALUES (1, 'production'), (2, 'distribution'), (3, 'effects'),
  (4, 'other');
CREATE TABLE comp_cast_type (id INTEGER NOT NULL PRIMARY KEY, kind VARCHAR(20));
INSERT INTO comp_cast_type VALUES (1, 'cast'), (2, 'crew'), (3, 'complete'), (4, 'verified');
CREATE TABLE link_type (id INTEGER NOT NULL PRIMARY KEY, link VARCHAR(20));
INSERT INTO link_type VALUES (1, 'follows'), (2, 'followed by'), (3, 'remake of'),
  (4, 'features'), (5, 'version of');
CREATE TABLE role_type (id INTEGER NOT NULL PRIMARY KEY, role VARCHAR(20));
INSERT INTO role_type VALUES (1, 'actor'), (2, 'actress'), (3, 'producer'), (4, 'writer'),
  (5, 'director'), (6, 'editor'), (7, 'composer'), (8, 'costumes');
CREATE TABLE info_type (id INTEGER NOT NULL PRIMARY KEY, info VARCHAR(20));
INSERT INTO info_type VALUES (1, 'genres'), (2, 'countries'), (3, 'languages'),
  (4, 'release dates'), (5, 'budget'), (6, 'trivia'), (7, 'runtimes'), (8, 'colors'),
  (9, 'rating'), (10, 'votes'), (11, 'top rank'), (12, 'bottom rank'), (13, 'birth date'),
  (14, 'biography'), (15, 'height'), (16, 'birth notes');

CREATE TABLE title (id INTEGER NOT NULL PRIMARY KEY, title VARCHAR(60), kind_id INTEGER,
  production_year INTEGER, episode_nr INTEGER, season_nr INTEGER);
INSERT INTO title SELECT s.n, concat('The ', v.noun, ' of ', w.forename, ' ', s.n),
    1 + s.n * 31 % (1 + s.n * 17 % 7), 2019 - s.n * 7919 % (1 + s.n * 613 % 90),
    CASE WHEN s.n % 3 = 0 THEN s.n % 120 END, CASE WHEN s.n % 3 = 0 THEN s.n % 9 END
  FROM numbers s JOIN words w ON w.n = s.n * 7 % 10 JOIN words v ON v.n = s.n * 13 % 97 % 10
  WHERE s.n <= 2500;
CREATE TABLE name (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(60), gender VARCHAR(1),
  name_pcode_cf VARCHAR(5));
INSERT INTO name SELECT s.n, concat(w.surname, ', ', v.forename, ' ', s.n),
    CASE s.n % 7 WHEN 0 THEN NULL WHEN 1 THEN 'f' WHEN 2 THEN 'f' WHEN 3 THEN 'f' ELSE 'm' END,
    concat(substr(w.surname, 1, 1), s.n % 600)
  FROM numbers s JOIN words w ON w.n = s.n * 11 % 101 % 10 JOIN words v ON v.n = s.n * 3 % 10
  WHERE s.n <= 4000;
CREATE TABLE char_name (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(60));
INSERT INTO char_name SELECT s.n, concat(CASE s.n % 9 WHEN 0 THEN 'Queen ' WHEN 1 THEN 'Captain '
    ELSE '' END, w.forename, ' ', s.n)
  FROM numbers s JOIN words w ON w.n = s.n * 19 % 10 WHERE s.n <= 1500;
CREATE TABLE company_name (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(60),
  country_code VARCHAR(8));
INSERT INTO company_name SELECT s.n, concat(w.noun, CASE s.n % 4 WHEN 0 THEN ' Film'
    WHEN 1 THEN ' Pictures' WHEN 2 THEN ' Studio' ELSE ' Media' END, ' ', s.n), v.code
  FROM numbers s JOIN words w ON w.n = s.n * 23 % 10
    JOIN words v ON v.n = s.n * 7 % (1 + s.n * 29 % 10) WHERE s.n <= 600;
CREATE TABLE keyword (id INTEGER NOT NULL PRIMARY KEY, keyword VARCHAR(40));
INSERT INTO keyword SELECT s.n, CASE WHEN s.n <= 10 THEN w.keyword
    ELSE concat(w.keyword, '-', s.n) END
  FROM numbers s JOIN words w ON w.n = s.n % 10 WHERE s.n <= 400;

CREATE TABLE aka_title (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER, title VARCHAR(60));
INSERT INTO aka_title SELECT s.n, 1 + s.n * 5003 % (1 + s.n * 101 % 2500),
    concat(w.noun, ' ', s.n)
  FROM numbers s JOIN words w ON w.n = s.n % 10 WHERE s.n <= 1000;
CREATE TABLE aka_name (id INTEGER NOT NULL PRIMARY KEY, person_id INTEGER, name VARCHAR(60));
INSERT INTO aka_name SELECT s.n, 1 + s.n * 4003 % (1 + s.n * 907 % 4000),
    concat(w.forename, ' ', w.surname, ' ', s.n)
  FROM numbers s JOIN words w ON w.n = s.n % 10 WHERE s.n <= 2000;
CREATE TABLE movie_link (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  linked_movie_id INTEGER, link_type_id INTEGER);
INSERT INTO movie_link SELECT s.n, 1 + s.n * 3001 % (1 + s.n * 211 % 2500),
    1 + s.n * 1009 % (1 + s.n * 499 % 2500), 1 + s.n % 5
  FROM numbers s WHERE s.n <= 800;
CREATE TABLE complete_cast (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  subject_id INTEGER, status_id INTEGER);
INSERT INTO complete_cast SELECT s.n, 1 + s.n * 2003 % (1 + s.n * 307 % 2500), 1 + s.n % 2,
    3 + s.n * 3 % 5 % 2
  FROM numbers s WHERE s.n <= 1500;
CREATE TABLE movie_keyword (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  keyword_id INTEGER);
INSERT INTO movie_keyword SELECT s.n, 1 + s.n * 7919 % (1 + s.n * 1301 % 2500),
    1 + s.n * 6007 % (1 + s.n * 53 % 400)
  FROM numbers s WHERE s.n <= 8000;
CREATE TABLE movie_companies (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  company_id INTEGER, company_type_id INTEGER, note VARCHAR(40));
INSERT INTO movie_companies SELECT s.n, 1 + s.n * 4999 % (1 + s.n * 787 % 2500),
    1 + s.n * 3571 % (1 + s.n * 71 % 600), 1 + s.n * 5 % (1 + s.n * 7 % 4),
    CASE s.n % 5 WHEN 0 THEN '(presents)' WHEN 1 THEN '(co-production)'
      WHEN 2 THEN concat('(', 1980 + s.n % 40, ') (worldwide)') WHEN 3 THEN '(theatrical)' END
  FROM numbers s WHERE s.n <= 5000;
CREATE TABLE movie_info (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  info_type_id INTEGER, info VARCHAR(40), note VARCHAR(20));
INSERT INTO movie_info SELECT m.n, m.movie_id, 1 + m.n % 8,
    CASE m.n % 8 WHEN 0 THEN w.genre WHEN 1 THEN w.country WHEN 2 THEN w.country
      WHEN 3 THEN concat(w.country, ': ', 1950 + m.n % 70) WHEN 4 THEN concat(m.n * 37 % 9000, '000')
      WHEN 5 THEN concat('Shot in ', w.country) WHEN 6 THEN concat(60 + m.n % 120, '')
      ELSE 'Color' END,
    CASE WHEN m.n % 5 = 0 THEN 'internet' END
  FROM (SELECT s.n, 1 + s.n * 6997 % (1 + s.n * 1103 % 2500) AS movie_id FROM numbers s
      WHERE s.n <= 12000) m
    JOIN words w ON w.n = m.movie_id % (1 + m.n * 3 % 10);
CREATE TABLE movie_info_idx (id INTEGER NOT NULL PRIMARY KEY, movie_id INTEGER,
  info_type_id INTEGER, info VARCHAR(20));
INSERT INTO movie_info_idx SELECT s.n, 1 + s.n * 2999 % (1 + s.n * 1201 % 2500), 9 + s.n % 4,
    CASE s.n % 4 WHEN 0 THEN concat(1 + s.n * 7 % 9, '.', s.n % 10)
      WHEN 1 THEN concat(s.n * 41 % 30000, '') ELSE concat(1 + s.n % 250, '') END
  FROM numbers s WHERE s.n <= 4000;
CREATE TABLE person_info (id INTEGER NOT NULL PRIMARY KEY, person_id INTEGER,
  info_type_id INTEGER, info VARCHAR(60), note VARCHAR(20));
INSERT INTO person_info SELECT s.n, 1 + s.n * 1999 % (1 + s.n * 1409 % 4000), 13 + s.n % 4,
    concat(w.noun, ', ', w.country), CASE WHEN s.n % 5 = 0 THEN w.surname END
  FROM numbers s JOIN words w ON w.n = s.n * 7 % 10 WHERE s.n <= 4000;
CREATE TABLE cast_info (id INTEGER NOT NULL PRIMARY KEY, person_id INTEGER, movie_id INTEGER,
  person_role_id INTEGER, note VARCHAR(20), nr_order INTEGER, role_id INTEGER);
INSERT INTO cast_info SELECT s.n, 1 + s.n * 6101 % (1 + s.n * 1511 % 4000),
    1 + s.n * 7607 % (1 + s.n * 1613 % 2500),
    CASE WHEN s.n % 3 > 0 THEN 1 + s.n * 401 % 1500 END,
    CASE s.n % 7 WHEN 0 THEN '(voice)' WHEN 1 THEN '(producer)' WHEN 2 THEN '(uncredited)'
      WHEN 3 THEN '(story)' END,
    s.n % 40, 1 + s.n * 6101 % 4000 % (1 + s.n * 13 % 8)
  FROM numbers s WHERE s.n <= 20000;

CREATE INDEX title_kind ON title (kind_id);
CREATE INDEX aka_title_movie ON aka_title (movie_id);
CREATE INDEX aka_name_person ON aka_name (person_id);
CREATE INDEX movie_link_movie ON movie_link (movie_id);
CREATE INDEX movie_link_linked ON movie_link (linked_movie_id);
CREATE INDEX complete_cast_movie ON complete_cast (movie_id);
CREATE INDEX movie_keyword_movie ON movie_keyword (movie_id);
CREATE INDEX movie_keyword_keyword ON movie_keyword (keyword_id);
CREATE INDEX movie_companies_movie ON movie_companies (movie_id);
CREATE INDEX movie_companies_company ON movie_companies (company_id);
CREATE INDEX movie_info_movie ON movie_info (movie_id);
CREATE INDEX movie_info_idx_movie ON movie_info_idx (movie_id);
CREATE INDEX person_info_person ON person_info (person_id);
CREATE INDEX cast_info_movie ON cast_info (movie_id);
CREATE INDEX cast_info_person ON cast_info (person_id);
DROP TABLE digits;
DROP TABLE numbers;
DROP TABLE words;
