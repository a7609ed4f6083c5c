-- Up Migration
-- The rate-limit policy of a key's calls that name none, as core/rate-limit reads it; null: none.
alter table assay.api_keys add column rate_limit_policy text;
