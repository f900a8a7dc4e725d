import { z } from 'zod';
import type { Entity, FoundEntity, Knowledge } from '../../../domain/ports/tool-services.ts';
import { defineService, type ServiceCall, type ServiceHandle } from '../define-service.ts';
import { longText, parseArgument, parseServiceConfig, shortText } from '../parse-arguments.ts';
import { SCOPES, scopeOf } from '../scope-of.ts';
import type { Embedder } from '../search/embedder.ts';
import { SEARCH_MODES, searchDocuments } from '../search/search-documents.ts';
import { storageHealth } from '../storage/storage-health.ts';
import type { ScopedStore } from '../storage/scoped-store.ts';
import { ENTITIES, findEntity, putEntity, readEntity, textOfEntity, toEntity } from './entities.ts';
import { deleteEntity, mergeEntities } from './merge-entities.ts';
import { findNeighbourhood } from './neighbourhood.ts';
import { relate, unrelate } from './relations.ts';

const MAX_FACTS_CHARACTERS = 16 * 1024;

const config = z.strictObject({
  /** Who shares the entities: one subject, all subjects of a channel, or the whole tenant. */
  scope: z.enum(SCOPES).default('subject'),
  maxEntities: z.int().min(1).max(1_000_000).default(10_000),
  maxRelations: z.int().min(1).max(5_000_000).default(50_000),
});
const id = z.string().min(1).max(64);
const name = shortText(200);
const type = shortText(64).default('thing');
const relation = shortText(64);
const facts = z
  .record(z.string().min(1).max(100), z.json())
  .refine((value) => JSON.stringify(value).length <= MAX_FACTS_CHARACTERS, 'expected less than 16 KiB of facts');
const newEntity = z.strictObject({ name, type, text: longText(16 * 1024).optional(), facts: facts.default({}) });
const named = z.strictObject({ name, type });
const pair = z.strictObject({ from: id, relation, to: id });
const newRelation = z.strictObject({ ...pair.shape, facts: facts.default({}) });
const searchQuery = z.strictObject({
  text: longText(4096),
  limit: z.int().min(1).max(50).default(10),
  by: z.enum(SEARCH_MODES).default('words'),
});
const neighbourhoodQuery = z.strictObject({
  of: id,
  depth: z.int().min(1).max(4).default(1),
  limit: z.int().min(1).max(200).default(50),
  relation: relation.optional(),
});
const merging = z
  .strictObject({ from: id, into: id })
  .refine(({ from, into }) => from !== into, 'expected two different entities');

/** Stores entities and their relations, and finds them. */
export const knowledge = defineService({
  methods: ['put', 'get', 'find', 'relate', 'unrelate', 'search', 'neighbourhood', 'merge', 'delete'],
  uses: ['models'],
  async start({ name: service, config: given, services, storage }) {
    const { scope, ...limits } = parseServiceConfig(config, given, service);
    const store = await storage();
    const embedder = services['models'] as Embedder | undefined;
    return {
      open: (call) => {
        const place = { store, scope: scopeOf(scope, call.identity), ...limits };
        return openKnowledge(call, place, embedder) as unknown as ServiceHandle;
      },
      health: () => storageHealth(store),
    };
  },
});

interface Place {
  readonly store: ScopedStore;
  readonly scope: string;
  readonly maxEntities: number;
  readonly maxRelations: number;
}

function openKnowledge(call: ServiceCall, place: Place, embedder: Embedder | undefined): Knowledge {
  const { store, scope, maxEntities, maxRelations } = place;

  async function search(given: unknown): Promise<FoundEntity[]> {
    const { text, limit, by } = parseArgument(searchQuery, given, 'knowledge.search');
    const request = { scope, collection: ENTITIES, text, by, limit, signal: call.signal, textOf: textOfEntity };
    const ranked = await searchDocuments(store, embedder, request);
    const documents = await store.read(
      scope,
      ENTITIES,
      ranked.map((one) => one.id),
    );
    return documents.flatMap((document, index) =>
      document === undefined ? [] : [{ ...toEntity(document), score: ranked[index]!.score }],
    );
  }

  return {
    put: (given) => putEntity(store, scope, parseArgument(newEntity, given, 'knowledge.put'), maxEntities),
    async get(given): Promise<Entity | null> {
      return (await readEntity(store, scope, parseArgument(id, given, 'knowledge.get'))) ?? null;
    },
    async find(given): Promise<Entity | null> {
      const wanted = parseArgument(named, given, 'knowledge.find');
      return (await findEntity(store, scope, wanted)) ?? null;
    },
    relate: (given) => relate(store, scope, parseArgument(newRelation, given, 'knowledge.relate'), maxRelations),
    unrelate: (given) => unrelate(store, scope, parseArgument(pair, given, 'knowledge.unrelate')),
    search,
    neighbourhood: (given) =>
      findNeighbourhood(store, scope, parseArgument(neighbourhoodQuery, given, 'knowledge.neighbourhood')),
    async merge(given) {
      const { from, into } = parseArgument(merging, given, 'knowledge.merge');
      return mergeEntities(store, scope, from, into);
    },
    delete: (given) => deleteEntity(store, scope, parseArgument(id, given, 'knowledge.delete')),
  };
}
