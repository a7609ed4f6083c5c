-- Up Migration
-- The beginnings of question and answer, at most 200 characters each, so that lists of requests read no bodies. Null: there was
-- no text, the body was omitted, or the record is older than these columns. In collation "C" like all text here: nothing sorts
-- or filters by them.
alter table assay.requests
  add column preview_in  text collate "C",
  add column preview_out text collate "C";
