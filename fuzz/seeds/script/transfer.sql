\set aid random(1, 100000 * :scale)
BEGIN;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid \gset
\if :abalance > 0
UPDATE t SET a = $$x;y$$ WHERE b = 'it''s';
\endif
END;
