-- Up Migration
-- How an answer came about, beside what was answered. New partitions are made like their parent, so they have both.
alter table assay.requests
  add column usage_estimated boolean not null default false, -- tokens, or some of them, counted here: the provider gave none
  add column attempts        jsonb;                          -- every try at a provider, in order; null: there was one
