-- Up Migration
-- Webhooks: addresses to which an organization has its events posted.
create table assay.webhooks (
  webhook_id      uuid primary key default gen_random_uuid(),
  organization_id uuid not null references assay.organizations,
  url             text not null,            -- '' once it is deleted
  events          text[] not null check (cardinality(events) > 0),
  filter          jsonb,                    -- as a query's filter; null: every request
  payload         text not null check (payload in ('thin', 'full')),
  format          text not null check (format in ('standard', 'chat')),
  sealed          bytea not null,           -- a sealed JSON object: secret, and previous while both sign
  previous_until  timestamptz(3),           -- until when the previous secret signs, too
  paused_reason   text,                     -- null: it is active
  paused_message  text,
  paused_at       timestamptz(3),
  not_before      timestamptz(3),           -- no attempts before: its receiver asked for a rest
  last_success_at timestamptz(3),           -- to the second
  missed_from     timestamptz(3),           -- the last period whose events were not sent
  missed_until    timestamptz(3),           -- null: it lasts
  missed_reason   text,                     -- paused | feed
  created_at      timestamptz(3) not null,
  updated_at      timestamptz(3) not null,
  deleted_at      timestamptz(3),
  check ((paused_reason is null) = (paused_at is null))
);
create index on assay.webhooks (organization_id, created_at desc);
create index on assay.webhooks (deleted_at) where deleted_at is not null;

-- One row for each event and webhook, made in the transaction that moves the sink's cursor over the change. It holds no
-- content of a request: that is read when the message is sent. No foreign key: it would lock the webhook for each row, and
-- a deleted webhook stays as a row.
create table assay.webhook_deliveries (
  webhook_id      uuid not null,
  delivery_id     text collate "C" not null,       -- the webhook-id of its messages
  organization_id uuid not null,
  event           text collate "C" not null,
  event_at        timestamptz(3) not null,
  created_at      timestamptz(3),                  -- of the request
  request_id      text collate "C",
  details         jsonb,                           -- of the event
  once_key        text collate "C",                -- a webhook gets one event with this key
  state           text not null default 'pending'
    check (state in ('pending', 'sending', 'delivered', 'failed', 'cancelled')),
  due_at          timestamptz(3) not null,         -- pending: not before this; sending: lost if still sending then
  claims          integer not null default 0,      -- the number of the claim that holds it
  lost            integer not null default 0,      -- claims in a row that no process settled
  attempts        smallint not null default 0,     -- of the schedule under way
  tries           jsonb not null default '[]',     -- the last attempts, with what was answered
  reason          text,                            -- why it was cancelled or given up
  finished_at     timestamptz(3),
  primary key (webhook_id, delivery_id)
) with (fillfactor = 80);
-- Deliveries to be made, the longest due of each webhook first.
create index webhook_deliveries_due on assay.webhook_deliveries (webhook_id, due_at, delivery_id)
  where state in ('pending', 'sending');
create index webhook_deliveries_failed on assay.webhook_deliveries (webhook_id, finished_at, delivery_id) where state = 'failed';
create unique index webhook_deliveries_once on assay.webhook_deliveries (webhook_id, once_key) where once_key is not null;
create index on assay.webhook_deliveries (organization_id, request_id) where request_id is not null; -- for erasures
-- For retention: failed deliveries are kept longer.
create index on assay.webhook_deliveries (finished_at) where state in ('delivered', 'cancelled');
create index on assay.webhook_deliveries (finished_at) where state = 'failed';

grant select, insert, update on assay.webhooks to assay_api;
grant select, insert, update (state, due_at, attempts, reason, finished_at) on assay.webhook_deliveries to assay_api;

do $$
declare
  name text;
begin
  foreach name in array array['webhooks', 'webhook_deliveries'] loop
    execute format('alter table assay.%I enable row level security', name);
    execute format('create policy own_organization on assay.%I to assay_api
      using (organization_id = nullif(current_setting(''assay.organization'', true), '''')::uuid)', name);
  end loop;
end $$;
