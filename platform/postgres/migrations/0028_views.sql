-- Up Migration
-- Saved views: named states of a page of the dashboard. They belong to the organization: keys have no persons.
create table assay.views (
  view_id         uuid primary key default gen_random_uuid(),
  organization_id uuid not null references assay.organizations,
  page            text not null,           -- core/contracts/view.ts
  name            text not null,
  folded_name     text collate "C" not null, -- folded by the API, so that the database's locale does not matter
  query           text not null,           -- the query string of the page's address
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  unique (organization_id, page, folded_name)
);
grant select, insert, update, delete on assay.views to assay_api;
alter table assay.views enable row level security;
create policy own_organization on assay.views to assay_api
  using (organization_id = nullif(current_setting('assay.organization', true), '')::uuid);
