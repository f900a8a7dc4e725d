import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { MadeToken, TokenView } from '../../../../src/gateway/api/token-schema.ts';
import { api, apiPath } from '../../api.ts';
import type { Page } from '../../api-types.ts';
import { now } from '../../clock.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Inert } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago, TimeLeft } from '../../components/time.tsx';
import { showToast } from '../../components/toast.tsx';
import { holdsScope } from '../../holds-scope.ts';
import { useResource } from '../../use-resource.ts';
import { MadeTokenDialog } from './made-token-dialog.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';

const MAX = 500;

export function TokensView(): VNode {
  if (!holdsScope('admin')) return <Empty title="Only an administrator sees tokens.">Sign in with such a token.</Empty>;
  return <AdminTokens />;
}

function AdminTokens(): VNode {
  const { data, error, reload } = useResource(
    (signal) => api.get<Page<TokenView>>('/v1/tokens', { query: { limit: MAX }, signal }),
    [],
  );
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeToken>();
  const [revoking, setRevoking] = useState<TokenView>();
  return (
    <>
      <div class="page-actions">
        <Button kind="primary" onClick={() => setMaking(true)}>
          New token
        </Button>
        <p class="hint">A token lets its bearer do what its scopes say. Its secret is shown once and stored nowhere.</p>
      </div>
      {error === undefined ? null : <Failure error={error} onRetry={reload} />}
      {data === undefined && error === undefined ? <Loading what="Reading tokens" /> : null}
      {data === undefined ? null : (
        <Table caption="Tokens" columns={columnsOf(setRevoking)} rows={data.items} keyOf={({ id }) => id} stacks />
      )}
      {isMaking ? (
        <NewTokenDialog
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMaking(false);
            setMade(token);
            reload();
          }}
        />
      ) : null}
      {made === undefined ? null : <MadeTokenDialog made={made} onClose={() => setMade(undefined)} />}
      {revoking === undefined ? null : (
        <Confirm
          title="Revoke this token?"
          act="Revoke"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await api.delete(apiPath`/v1/tokens/${revoking.id}`);
            showToast('The token is revoked.');
            reload();
          }}
        >
          <p>
            Whoever uses <Inert text={revoking.name} /> is locked out, and all sessions that were opened with it end. It
            cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(onRevoke: (token: TokenView) => void): readonly Column<TokenView>[] {
  return [
    {
      title: 'Name',
      cell: ({ name, id }) => (
        <span class="stacked">
          <Name text={name} />
          <span class="hint mono">
            <Inert text={id} />
          </span>
        </span>
      ),
    },
    { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
    { title: 'Acts for', cell: (token) => <Name text={describeIdentity(token)} /> },
    { title: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { title: 'Ends', cell: (token) => <Ends token={token} /> },
    {
      title: 'Revoke',
      cell: (token) =>
        isLive(token) ? (
          <Button kind="danger" label={`Revoke ${token.name}`} onClick={() => onRevoke(token)}>
            Revoke
          </Button>
        ) : (
          '–'
        ),
    },
  ];
}

function describeIdentity({ identity, decidesAs, unattended, purpose }: TokenView): string {
  if (purpose !== undefined) return purpose === 'login' ? 'a login to the console' : 'a login link, not used yet';
  const mark = unattended === true ? ', unattended' : '';
  if (identity !== undefined) return `${identity.agent} for ${identity.tenant}/${identity.subject}${mark}`;
  if (unattended === true) return 'unattended sessions';
  return decidesAs === undefined ? '–' : `decides as ${decidesAs}`;
}

function isLive({ revokedAt, expiresAt }: TokenView): boolean {
  return revokedAt === undefined && expiresAt > now.value;
}

function Ends({ token }: { readonly token: TokenView }): VNode {
  if (token.revokedAt !== undefined) {
    return (
      <span class="stacked">
        <span>
          <Badge tone="neutral">revoked</Badge>
        </span>
        <Ago at={token.revokedAt} />
      </span>
    );
  }
  return isLive(token) ? <TimeLeft until={token.expiresAt} /> : <Badge tone="neutral">expired</Badge>;
}
