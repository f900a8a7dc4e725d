import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api, apiPath } from '../api.ts';
import type { Page } from '../api-types.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Inert } from '../components/inert.tsx';
import { Name } from '../components/name.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Ago, TimeLeft } from '../components/time.tsx';
import { showToast } from '../components/toast.tsx';
import { now } from '../clock.ts';
import { holdsScope } from '../holds-scope.ts';
import { useResource } from '../use-resource.ts';
import { describeScope, grantState, type Grant } from './grants/describe-grant.ts';
import { GrantMatch } from './grants/grant-match.tsx';
import './grants/grants.css';

const MAX = 500;

export function Grants(): VNode {
  const { data, error, reload } = useResource(
    (signal) => api.get<Page<Grant>>('/v1/grants', { query: { limit: MAX }, signal }),
    [],
  );
  const [revoking, setRevoking] = useState<Grant>();
  const mayRevoke = holdsScope('approver', 'admin');
  return (
    <>
      <PageHead title="Grants">
        <Button onClick={reload}>Read again</Button>
      </PageHead>
      <p class="hint">
        A grant is a remembered “yes”: calls it covers run without asking, until it ends or is used up.
      </p>
      {error === undefined ? null : <Failure error={error} onRetry={reload} />}
      {data === undefined && error === undefined ? <Loading what="Reading grants" /> : null}
      {data === undefined ? null : <GrantTable grants={data.items} mayRevoke={mayRevoke} onRevoke={setRevoking} />}
      {data?.next === undefined ? null : (
        <p class="hint">{`These are the first ${data.items.length}; there are more.`}</p>
      )}
      {revoking === undefined ? null : (
        <Confirm
          title="Revoke this grant?"
          act="Revoke"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await api.delete(apiPath`/v1/grants/${revoking.id}`);
            showToast('The grant is revoked.');
            reload();
          }}
        >
          <p>
            Calls of <Inert text={revoking.tool} /> for <Inert text={describeScope(revoking)} /> will ask a person
            again. It cannot be undone; the next approval can give a new grant.
          </p>
        </Confirm>
      )}
    </>
  );
}

interface GrantTableProps {
  readonly grants: readonly Grant[];
  readonly mayRevoke: boolean;
  readonly onRevoke: (grant: Grant) => void;
}

function GrantTable({ grants, mayRevoke, onRevoke }: GrantTableProps): VNode {
  if (grants.length === 0) {
    return <Empty title="There is no grant.">Answer an approval with “always” to make one.</Empty>;
  }
  const columns: readonly Column<Grant>[] = [
    {
      title: 'Tool',
      cell: ({ tool }) => <Name text={tool} mono />,
    },
    { title: 'For', cell: (grant) => <Name text={describeScope(grant)} /> },
    { title: 'Covers', cell: (grant) => <GrantMatch matches={grant.matches} /> },
    { title: 'Ends', cell: (grant) => <Ends grant={grant} /> },
    { title: 'Uses left', cell: ({ usesLeft }) => usesLeft ?? 'unlimited', numeric: true },
    { title: 'Given by', cell: (grant) => <GivenBy grant={grant} /> },
    {
      title: 'Revoke',
      cell: (grant) =>
        mayRevoke && grantState(grant, now.value) === 'live' ? (
          <Button kind="danger" label={`Revoke the grant for ${grant.tool}`} onClick={() => onRevoke(grant)}>
            Revoke
          </Button>
        ) : (
          '–'
        ),
    },
  ];
  return <Table caption="Grants" columns={columns} rows={grants} keyOf={({ id }) => id} stacks />;
}

function Ends({ grant }: { readonly grant: Grant }): VNode {
  const state = grantState(grant, now.value);
  if (state === 'live') return <TimeLeft until={grant.expiresAt} />;
  return <Badge tone="neutral">{state}</Badge>;
}

function GivenBy({ grant: { by, createdAt, approval } }: { readonly grant: Grant }): VNode {
  return (
    <span class="given-by">
      <span>
        {by.kind} <Inert text={by.name} />
      </span>
      <span class="hint">
        <Ago at={createdAt} />, <a href={`/console/approvals/${encodeURIComponent(approval)}`}>from this approval</a>
      </span>
    </span>
  );
}
