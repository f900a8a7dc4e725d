import type { JsonObject } from '../../base/json.ts';

/**
 * The services that a tool can use, by name. Operators make their own known to the compiler with `declare module 'sallyport/tool' {
 * interface Services { shop: Shop } }`.
 */
export interface Services {
  conversations: Conversations;
  knowledge: Knowledge;
  tasks: TaskList;
  models: Models;
}

export type SearchBy = 'words' | 'meaning' | 'both';

/** The conversation of the session's channel, or of its subject where there is no channel. */
export interface Conversations {
  /** A call that runs again appends its messages only once: each append has a key, by default its number within the call. */
  append(message: NewMessage): Promise<Message>;
  /** Returns the latest messages, oldest first. */
  window(query?: WindowQuery): Promise<Message[]>;
  /** Returns the best match first. */
  search(query: SearchQuery): Promise<FoundMessage[]>;
}

export interface NewMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly text: string;
  /** Display name of the author, as the calling tool states it. It is not checked. */
  readonly name?: string;
  readonly key?: string;
}

export interface Message {
  /** Increases within the conversation. */
  readonly id: number;
  readonly role: NewMessage['role'];
  readonly text: string;
  readonly name?: string;
  /** The subject whose call wrote the message, taken from the session. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface FoundMessage extends Message {
  readonly score: number;
}

/** The first limit reached ends the window; at least one message is returned if there is one. */
export interface WindowQuery {
  /** Default 50; max 500. */
  readonly last?: number;
  readonly maxCharacters?: number;
  /** Tokens are estimated as a quarter of the characters. */
  readonly maxTokens?: number;
  /** Only messages before this id. */
  readonly before?: number;
}

export interface SearchQuery {
  readonly text: string;
  /** Default 10; max 50. */
  readonly limit?: number;
  /** Default `words`. The other modes need a model. */
  readonly by?: SearchBy;
}

/** A knowledge graph: entities and their relations. It belongs to the subject unless the operator shares it more widely. */
export interface Knowledge {
  /** Creates the entity with this type and name, or updates it; facts are merged, and null removes one. */
  put(entity: NewEntity): Promise<Entity>;
  get(id: string): Promise<Entity | null>;
  find(entity: { readonly name: string; readonly type?: string }): Promise<Entity | null>;
  /** Both entities must exist. At most one relation per (from, relation, to). */
  relate(relation: NewRelation): Promise<Relation>;
  unrelate(relation: Pick<NewRelation, 'from' | 'relation' | 'to'>): Promise<boolean>;
  search(query: SearchQuery): Promise<FoundEntity[]>;
  neighbourhood(query: NeighbourhoodQuery): Promise<Neighbourhood>;
  /** The entity `into` gets the relations of `from`, and those facts of `from` that it lacks. Then `from` is deleted. */
  merge(entities: { readonly from: string; readonly into: string }): Promise<Entity>;
  /** Also deletes all its relations. */
  delete(id: string): Promise<boolean>;
}

export interface NewEntity {
  readonly name: string;
  /** Default `thing`. */
  readonly type?: string;
  readonly text?: string;
  readonly facts?: JsonObject;
}

export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly text: string;
  readonly facts: JsonObject;
}

export interface FoundEntity extends Entity {
  readonly score: number;
}

export interface NewRelation {
  readonly from: string;
  readonly relation: string;
  readonly to: string;
  readonly facts?: JsonObject;
}

export interface Relation extends NewRelation {
  readonly facts: JsonObject;
}

export interface NeighbourhoodQuery {
  readonly of: string;
  /** Max distance in steps: default 1, max 4. */
  readonly depth?: number;
  /** Max entities: default 50, max 200. */
  readonly limit?: number;
  /** Only along this relation. */
  readonly relation?: string;
}

export interface Neighbourhood {
  /** Nearest first; the first one is `of` itself. */
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** False when a limit cut the result. */
  readonly complete: boolean;
}

/** The subject's own tasks; unrelated to the plane's pending calls. */
export interface TaskList {
  create(task: NewTask): Promise<Task>;
  /** Null removes the field. */
  update(change: TaskChange): Promise<Task>;
  complete(id: string): Promise<Task>;
  /** Lists newest first; default: open tasks. */
  list(query?: { readonly state?: 'open' | 'done' | 'all'; readonly limit?: number }): Promise<Task[]>;
  /** Open tasks due by the given time (default: now), the most urgent first. */
  due(query?: { readonly by?: string; readonly limit?: number }): Promise<Task[]>;
  delete(id: string): Promise<boolean>;
}

export interface NewTask {
  readonly title: string;
  readonly notes?: string;
  /** ISO 8601 with an offset. */
  readonly due?: string;
  readonly key?: string;
}

export interface TaskChange {
  readonly id: string;
  readonly title?: string;
  readonly notes?: string | null;
  readonly due?: string | null;
  readonly state?: 'open' | 'done';
}

export interface Task {
  readonly id: string;
  readonly title: string;
  readonly notes?: string;
  readonly due?: string;
  readonly state: 'open' | 'done';
  readonly createdAt: string;
  readonly doneAt?: string;
}

export interface Models {
  /** One vector per text; max 256 texts. */
  embed(texts: readonly string[]): Promise<number[][]>;
}
