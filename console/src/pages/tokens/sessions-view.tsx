import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SessionView } from '../../../../src/gateway/api/session-schema.ts';
import { api, apiPath } from '../../api.ts';
import type { Page } from '../../api-types.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Inert, ShortId } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago, TimeLeft } from '../../components/time.tsx';
import { showToast } from '../../components/toast.tsx';
import { holdsScope } from '../../holds-scope.ts';
import { useResource } from '../../use-resource.ts';

const PAGE_SIZE = 100;

export function SessionsView(): VNode {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const [revoking, setRevoking] = useState<SessionView>();
  const cursor = cursors.at(-1);
  const { data, error, reload } = useResource(
    (signal) => api.get<Page<SessionView>>('/v1/sessions', { query: { limit: PAGE_SIZE, cursor }, signal }),
    [cursor],
  );
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="Reading sessions" />;
  return (
    <>
      {data.items.length === 0 ? (
        <Empty title="No session is open.">Agents that call open one.</Empty>
      ) : (
        <Table caption="Sessions" columns={columnsOf(setRevoking)} rows={data.items} keyOf={({ id }) => id} stacks />
      )}
      {cursors.length === 1 && data.next === undefined ? null : (
        <div class="page-actions">
          <Button disabled={cursors.length === 1} onClick={() => setCursors(cursors.slice(0, -1))}>
            Back
          </Button>
          <Button disabled={data.next === undefined} onClick={() => setCursors([...cursors, data.next])}>
            More
          </Button>
        </div>
      )}
      {revoking === undefined ? null : (
        <Confirm
          title="Revoke this session?"
          act="Revoke"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await api.delete(apiPath`/v1/sessions/${revoking.id}`);
            showToast('The session is revoked.');
            reload();
          }}
        >
          <p>
            Waiting calls of <Inert text={describe(revoking)} /> end denied; what runs now goes on. Sessions it
            delegated to end with it.
          </p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(onRevoke: (session: SessionView) => void): readonly Column<SessionView>[] {
  const mayRevoke = holdsScope('operator', 'admin');
  return [
    { title: 'For', cell: (session) => <Name text={describe(session)} /> },
    { title: 'Session', cell: ({ id }) => <ShortId text={id} /> },
    { title: 'Where', cell: ({ identity }) => <Name text={describePlace(identity)} /> },
    { title: 'Opened by', cell: ({ openedBy }) => <Name text={openedBy?.by ?? 'unknown'} /> },
    { title: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
    {
      title: 'Ends',
      cell: ({ state, expiresAt }) =>
        state === 'open' ? <TimeLeft until={expiresAt} /> : <Badge tone="neutral">{state}</Badge>,
    },
    { title: 'Runs', cell: ({ runs }) => runs.length, numeric: true },
    {
      title: 'Revoke',
      cell: (session) =>
        mayRevoke && session.state === 'open' ? (
          <Button kind="danger" label={`Revoke the session of ${describe(session)}`} onClick={() => onRevoke(session)}>
            Revoke
          </Button>
        ) : (
          '–'
        ),
    },
  ];
}

function describe({ identity: { agent, tenant, subject, unattended } }: SessionView): string {
  const mark = unattended === true ? ', unattended' : '';
  return `${agent} for ${tenant === 'default' ? subject : `${tenant}/${subject}`}${mark}`;
}

function describePlace({ platform, space, channel }: SessionView['identity']): string {
  return [platform, space, channel].filter((part) => part !== undefined).join(' › ') || '–';
}
