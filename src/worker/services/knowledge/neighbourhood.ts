import type { Entity, Neighbourhood, Relation } from '../../../domain/ports/tool-services.ts';
import type { ScopedStore } from '../storage/scoped-store.ts';
import { ENTITIES, toEntity, unknownEntity } from './entities.ts';
import { RELATIONS, relationId, toRelation } from './relations.ts';

/** Max relations that are read for one entity: the newest ones. */
const RELATIONS_OF_ONE = 200;
const MAX_RELATIONS = 1000;

export interface NeighbourhoodQuery {
  readonly of: string;
  readonly depth: number;
  readonly limit: number;
  readonly relation?: string | undefined;
}

/** Walks outwards step by step, so that the limit cuts off what is farthest away. */
export async function findNeighbourhood(
  store: ScopedStore,
  scope: string,
  { of, depth, limit, relation: only }: NeighbourhoodQuery,
): Promise<Neighbourhood> {
  const entities = new Map<string, Entity>();
  const relations = new Map<string, Relation>();
  let complete = true;
  let frontier = await readAll([of]);
  if (frontier.length === 0) throw unknownEntity(of);

  async function readAll(ids: readonly string[]): Promise<string[]> {
    const found = (await store.read(scope, ENTITIES, ids)).filter((document) => document !== undefined);
    for (const document of found) entities.set(document.id, toEntity(document));
    return found.map(({ id }) => id);
  }

  async function relationsOf(id: string): Promise<Relation[]> {
    const found = await store.list(scope, RELATIONS, { label: id, limit: RELATIONS_OF_ONE + 1 });
    if (found.length > RELATIONS_OF_ONE) complete = false;
    return found
      .slice(0, RELATIONS_OF_ONE)
      .map(toRelation)
      .filter(({ relation }) => only === undefined || relation === only);
  }

  for (let step = 0; step < depth && frontier.length > 0; step += 1) {
    const met = (await Promise.all(frontier.map(relationsOf))).flat();
    for (const relation of met) relations.set(relationId(relation), relation);
    const next = [...new Set(met.flatMap(({ from, to }) => [from, to]))].filter((id) => !entities.has(id));
    const room = limit - entities.size;
    if (next.length > room) complete = false;
    frontier = await readAll(next.slice(0, Math.max(0, room)));
  }

  const shown = [...relations.values()].filter(({ from, to }) => entities.has(from) && entities.has(to));
  if (shown.length > MAX_RELATIONS) complete = false;
  return { entities: [...entities.values()], relations: shown.slice(0, MAX_RELATIONS), complete };
}
