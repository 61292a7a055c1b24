import type { ReactNode } from 'react';
import { admin } from '../api/client.js';
import type { Status } from '../api/types.js';
import { useLoaded } from '../hooks/use-loaded.js';
import { count, duration, many, progress } from '../parts/format.js';
import { Loading } from '../parts/loading.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';

const EVERY_MS = 5000;

/** The one watcher, its pass and its audit, and what it could not work through. */
export function Watcher() {
  const loaded = useLoaded(
    'status',
    async (signal, isPoll) => (await admin<Status>('status', { signal, isPoll })).body,
    EVERY_MS,
  );
  return (
    <Page title="Watcher" intro="One instance follows all changes in the database for all of them.">
      <Loading of={loaded} what="its status">
        {(status) => (
          <>
            <Facts of={factsOf(status)} />
            <Aside status={status} />
            <Pending status={status} />
            <PassAndAudit status={status} />
            <SetAside status={status} />
            <EmailDuplicates status={status} />
            <h2>Documents</h2>
            <Facts of={Object.entries(status.documents).map(([name, value]) => [name, count(value)])} />
          </>
        )}
      </Loading>
    </Page>
  );
}

function factsOf({
  database,
  watcher,
  missingIndexes,
  missingRights,
  hardDeletesExpired,
}: Status): [string, ReactNode][] {
  const seconds = (value: number | undefined) => (value === undefined ? 'not known' : duration(value));
  const share = (ratio: number | undefined) =>
    ratio === undefined ? 'not known' : `${Math.floor(ratio * 100)} %`;
  return [
    [
      'Database',
      `${database.name}, MongoDB ${database.version}, replica set ${database.replicaSet ?? 'none'}`,
    ],
    ['Leader', watcher.leader ?? 'no instance leads'],
    ['Behind the database', [seconds(watcher.lagSeconds), progress(watcher)].filter(Boolean).join(', ')],
    ['The oplog reaches back', seconds(watcher.oplogWindowSeconds)],
    ['The oplog is full to', share(watcher.oplogUsedRatio)],
    ['At its rate so far, it holds', seconds(watcher.oplogPredictedWindowSeconds)],
    ['Last pass ended', <Time key="since" at={watcher.since} />],
    ['Missing indexes', missingIndexes.length === 0 ? 'none' : missingIndexes.join('; ')],
    [
      'Missing actions of the role',
      missingRights.length === 0
        ? 'none'
        : missingRights.map(({ action, on }) => `${action} on ${on}`).join('; '),
    ],
    ['Hard deletes are gone up to', hardDeletesExpired === undefined ? 'all are kept' : hardDeletesExpired],
  ];
}

function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Aside({ status: { watcher } }: { status: Status }) {
  if (watcher.aside.length === 0) return null;
  return (
    <>
      <h2>Applications beside all others</h2>
      <p>
        They have very many changes, or a pass goes over all of their records. The feeds of all others do not
        wait for these.
      </p>
      <Table
        caption="Applications beside all others"
        rows={watcher.aside}
        nameOf={({ organizationid, appid }) => `${organizationid}/${appid}`}
        empty=""
        columns={[
          { title: 'Application', cell: ({ organizationid, appid }) => `${organizationid}/${appid}` },
          { title: 'Behind', cell: ({ lagSeconds }) => duration(lagSeconds) },
          { title: 'Pass', cell: ({ pass }) => pass ?? 'none' },
          { title: 'Progress', cell: (application) => progress(application) ?? 'not known yet' },
        ]}
      />
    </>
  );
}

function Pending({ status: { pendingServices } }: { status: Status }) {
  if (pendingServices.services === 0) return null;
  return (
    <>
      <h2>Edited filters</h2>
      <p>
        The feeds of {many(pendingServices.services, 'service')} wait until records are stamped anew for an
        edited filter.
      </p>
      <Table
        caption="Edited filters"
        rows={pendingServices.first}
        nameOf={({ organizationid, appid, kind, name }) => `${organizationid}/${appid} ${kind} ${name}`}
        empty=""
        columns={[
          { title: 'Application', cell: ({ organizationid, appid }) => `${organizationid}/${appid}` },
          { title: 'Service', cell: ({ kind, name }) => `${kind} ${name}` },
          { title: 'Since', cell: ({ since }) => <Time at={since} /> },
          { title: 'Progress', cell: (service) => progress(service) ?? 'not known yet' },
          { title: 'Failed attempts', cell: ({ failures }) => count(failures) },
        ]}
      />
    </>
  );
}

function PassAndAudit({ status: { watcher, audit } }: { status: Status }) {
  const { pass } = watcher;
  return (
    <>
      <h2>Pass</h2>
      {pass === undefined ? (
        <p>None is under way.</p>
      ) : (
        <p>
          <progress value={pass.done} max={Math.max(pass.total, pass.done, 1)} aria-label="Pass" />{' '}
          {count(pass.done)} of about {count(pass.total)},{' '}
          {pass.secondsLeft !== undefined && `${progress({ secondsLeft: pass.secondsLeft })}, `}begun{' '}
          <Time at={pass.started} />: {pass.reason}
        </p>
      )}
      <h2>Audit of the ledger</h2>
      {audit === undefined ? (
        <p>None has run yet.</p>
      ) : (
        <p>
          Round {count(audit.round)}, {audit.kind}s, {many(audit.slices, 'slice')} done.
          {audit.roundSeconds !== null && ` A round takes about ${duration(audit.roundSeconds)}.`} Ever found
          wrong and put right: {count(audit.found)}.
        </p>
      )}
    </>
  );
}

function SetAside({ status: { quarantine } }: { status: Status }) {
  return (
    <>
      <h2>Quarantine</h2>
      <Table
        caption="Quarantine"
        rows={quarantine.first}
        nameOf={({ what, _id }) => (_id === '' ? what : `${what} ${_id}`)}
        empty="Everything could be worked through."
        columns={[
          { title: 'What', cell: ({ what }) => what },
          { title: '_id', cell: ({ _id }) => <code>{_id}</code> },
          { title: 'Since', cell: ({ since }) => <Time at={since} /> },
          { title: 'Why', cell: ({ reason }) => reason },
        ]}
      />
    </>
  );
}

function EmailDuplicates({ status: { emailDuplicates } }: { status: Status }) {
  if (emailDuplicates.members === 0) return null;
  return (
    <>
      <h2>Members who share an e-mail</h2>
      <p>{many(emailDuplicates.members, 'member')} have an e-mail that another one had before.</p>
      <Table
        caption="Members who share an e-mail"
        rows={emailDuplicates.first}
        nameOf={({ organizationid, appid, emailkey }) => `${organizationid}/${appid} ${emailkey}`}
        empty=""
        columns={[
          { title: 'Application', cell: ({ organizationid, appid }) => `${organizationid}/${appid}` },
          { title: 'E-mail', cell: ({ emailkey }) => emailkey },
          {
            title: '_id of members',
            cell: ({ members, others }) => (
              <>
                <code>{members.join(', ')}</code>
                {others === undefined ? '' : `, and ${count(others)} more`}
              </>
            ),
          },
        ]}
      />
    </>
  );
}
