import { useCallback, useRef, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { useResource, type Resource } from '../../use-resource.ts';
import type { MatrixCell, MatrixPage } from './access-types.ts';
import { belongsTo } from './belongs-to.ts';

/** The part of the matrix that was read so far. The names are complete; rows are read page by page, in the order of the tools. */
export interface Matrix {
  readonly agents: readonly string[];
  readonly tools: readonly string[];
  /** Cells by tool, in the order of the agents. */
  readonly rows: ReadonlyMap<string, readonly MatrixCell[]>;
  readonly policyVersion: number;
  /** Absent if all rows were read. */
  readonly next?: string | undefined;
}

export interface PagedMatrix extends Resource<Matrix> {
  /** Reads the next page, unless it is already being read or there is none. After a failure it reads the same page again. */
  readonly readMore: () => void;
  /** Why the next page could not be read. */
  readonly pageError: unknown;
}

/** Reads the matrix in pages: a large matrix has tens of megabytes, of which a person reads a small part. */
export function useMatrix(tenant: string, subject: string): PagedMatrix {
  const under = useRef<{ next: string | undefined }>({ next: undefined });
  const [pageError, setPageError] = useState<unknown>();
  const resource = useResource(
    async (signal) => {
      under.current = { next: undefined };
      setPageError(undefined);
      return begin(await api.get<MatrixPage>('/v1/matrix', { query: { tenant, subject }, signal }));
    },
    [tenant, subject],
  );
  const { data, change, reload } = resource;

  const readMore = useCallback(() => {
    if (data?.next === undefined || under.current.next === data.next) return;
    const { next } = data;
    const reading = under.current;
    reading.next = next;
    setPageError(undefined);
    api.get<MatrixPage>('/v1/matrix', { query: { tenant, subject, cursor: next } }).then(
      (page) => {
        if (under.current !== reading) return;
        if (!belongsTo(data, page)) reload();
        else change((matrix) => (matrix.next === next ? append(matrix, page) : matrix));
      },
      (error: unknown) => {
        if (under.current !== reading) return;
        reading.next = undefined;
        setPageError(error);
      },
    );
  }, [data, change, reload, tenant, subject]);
  return { ...resource, readMore, pageError };
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
