-- Up Migration
-- What whoever trusts the score of an evaluation should know of its record: sentences, as in
-- "response.chioces is missing in this record".
alter table assay.evaluations add column warnings text[] not null default '{}';
