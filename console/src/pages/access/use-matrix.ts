import { useCallback, useRef } from 'preact/hooks';
import { api } from '../../api.ts';
import { useResource, type Resource } from '../../use-resource.ts';
import type { MatrixCell, MatrixPage } from './access-types.ts';

/** What was read of the matrix so far. The names are complete; rows come page by page, in the order of the tools. */
export interface Matrix {
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  /** By tool, then in the order of the agents. */
  readonly rows: ReadonlyMap<string, readonly MatrixCell[]>;
  readonly policyVersion: number;
  /** Absent: all rows were read. */
  readonly next?: string | undefined;
}

export interface PagedMatrix extends Resource<Matrix> {
  /** Reads the next page, unless one is on its way or there is none. */
  readonly readMore: () => void;
}

/** The gateway answers in pages: a large matrix is tens of megabytes, and nobody looks at all of it. */
export function useMatrix(tenant: string, subject: string): PagedMatrix {
  const under = useRef<{ next: string | undefined }>({ next: undefined });
  const resource = useResource(
    async (signal) => {
      under.current = { next: undefined };
      return begin(await api.get<MatrixPage>('/v1/matrix', { query: { tenant, subject }, signal }));
    },
    [tenant, subject],
  );
  const { data, change, reload } = resource;

  const readMore = useCallback(() => {
    const next = data?.next;
    const reading = under.current;
    if (next === undefined || reading.next === next) return;
    reading.next = next;
    api.get<MatrixPage>('/v1/matrix', { query: { tenant, subject, cursor: next } }).then(
      (page) => {
        if (under.current !== reading) return;
        // The policy has changed in between: rows of two policies must not stand side by side.
        if (page.policyVersion !== data?.policyVersion) reload();
        else change((matrix) => (matrix.next === next ? append(matrix, page) : matrix));
      },
      () => {
        // The next look at a missing row tries again.
        if (under.current === reading) reading.next = undefined;
      },
    );
  }, [data, change, reload, tenant, subject]);
  return { ...resource, readMore };
}

function begin(page: MatrixPage): Matrix {
  const { agents, tools = [], policyVersion } = page;
  return append({ agents, tools, policyVersion, rows: new Map() }, page);
}

function append({ agents, tools, policyVersion, rows }: Matrix, { items, next }: MatrixPage): Matrix {
  const more = items.map(({ tool, cells }) => [tool, cells] as const);
  return { agents, tools, policyVersion, rows: new Map([...rows, ...more]), next };
}

export function cellOf({ agents, rows }: Matrix, agent: string, tool: string): MatrixCell | undefined {
  return rows.get(tool)?.[agents.indexOf(agent)];
}
