import type { VNode } from 'preact';
import type { AgentPage, AgentView } from '../../../../src/gateway/api/agents-schema.ts';
import { api } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { useResource } from '../../use-resource.ts';

/** The declared agents with their selections, and warnings about probable mistakes. */
export function AgentsView(): VNode {
  const { data, error, reload } = useResource((signal) => api.get<AgentPage>('/v1/agents', { signal }), []);
  if (error !== undefined) return <Failure error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="Reading agents" />;
  if (data.items.length === 0) {
    return (
      <Empty title="No agent is declared.">
        {data.selecting ? 'None has any tool. ' : 'Permissions alone decide. '}
        Declare one with <code>sallyport agents set</code>.
      </Empty>
    );
  }
  return (
    <Table
      caption="Agents"
      columns={COLUMNS}
      rows={data.items}
      keyOf={({ name, tenant }) => JSON.stringify([name, tenant])}
      stacks
    />
  );
}

const COLUMNS: readonly Column<AgentView>[] = [
  {
    title: 'Agent',
    cell: ({ name, declaration: { description } }) => (
      <span class="stacked">
        <Name text={name} />
        {description === undefined ? null : (
          <span class="hint">
            <Inert text={description} />
          </span>
        )}
      </span>
    ),
  },
  { title: 'Tenant', cell: ({ tenant }) => (tenant === undefined ? 'every' : <Name text={tenant} />) },
  { title: 'Selects', cell: ({ declaration }) => <Selection selection={declaration.selection} /> },
  { title: 'Tools', cell: ({ tools }) => tools, numeric: true },
  {
    title: 'State',
    cell: ({ paused }) => (paused ? <Badge tone="bad">paused</Badge> : <Badge tone="good">on</Badge>),
  },
  {
    title: 'Problems',
    cell: ({ problems }) =>
      problems.length === 0 ? (
        'none'
      ) : (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>
              <Badge tone="warning">look</Badge> <Inert text={problem} />
            </li>
          ))}
        </ul>
      ),
  },
];

function Selection({ selection }: { readonly selection: AgentView['declaration']['selection'] }): VNode {
  if (selection.length === 0) return <span>nothing</span>;
  return (
    <ul class="stacked">
      {selection.map(({ module, tools }) => (
        <li key={module} class="name">
          <span class="mono">
            <Inert text={module === '*' ? 'every module' : module} />
          </span>
          {': '}
          <Inert text={tools === 'all' ? 'all tools' : tools.length === 0 ? 'none' : tools.join(', ')} />
        </li>
      ))}
    </ul>
  );
}
