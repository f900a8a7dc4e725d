import type { JsonObject } from '../domain/json.ts';

/**
 * The services a tool can ask for, by name. An operator's own become known to the compiler by
 * `declare module 'sallyport/tool' { interface Services { shop: Shop } }`.
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
  /** A call that is run again appends once: without a `key` its place among the call's appends is one. */
  append(message: NewMessage): Promise<Message>;
  /** The latest messages, oldest first. */
  window(query?: WindowQuery): Promise<Message[]>;
  /** Best first. */
  search(query: SearchQuery): Promise<FoundMessage[]>;
}

export interface NewMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly text: string;
  /** What the author is called. Claimed, not checked. */
  readonly name?: string;
  readonly key?: string;
}

export interface Message {
  /** Grows within the conversation. */
  readonly id: number;
  readonly role: NewMessage['role'];
  readonly text: string;
  readonly name?: string;
  /** The subject whose call wrote it, from the session. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface FoundMessage extends Message {
  readonly score: number;
}

/** Whatever is reached first ends the window; at least one message is given if there is one. */
export interface WindowQuery {
  /** 50 unless told; at most 500. */
  readonly last?: number;
  readonly maxCharacters?: number;
  /** Counted as a quarter of the characters. */
  readonly maxTokens?: number;
  /** Only messages before this id. */
  readonly before?: number;
}

export interface SearchQuery {
  readonly text: string;
  /** 10 unless told; at most 50. */
  readonly limit?: number;
  /** Default `words`. The others need a model. */
  readonly by?: SearchBy;
}

/** What is known: things, and how they are related. The subject's own unless the operator shares it wider. */
export interface Knowledge {
  /** Makes the entity of this type and name, or changes it; facts are merged, null removes one. */
  put(entity: NewEntity): Promise<Entity>;
  get(id: string): Promise<Entity | null>;
  find(entity: { readonly name: string; readonly type?: string }): Promise<Entity | null>;
  /** Both must exist. Once per (from, relation, to). */
  relate(relation: NewRelation): Promise<Relation>;
  unrelate(relation: Pick<NewRelation, 'from' | 'relation' | 'to'>): Promise<boolean>;
  search(query: SearchQuery): Promise<FoundEntity[]>;
  neighbourhood(query: NeighbourhoodQuery): Promise<Neighbourhood>;
  /** `into` gets the relations, and the facts it has not; `from` is gone. */
  merge(entities: { readonly from: string; readonly into: string }): Promise<Entity>;
  /** With all its relations. */
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
  /** Steps away: 1 unless told; at most 4. */
  readonly depth?: number;
  /** Entities: 50 unless told; at most 200. */
  readonly limit?: number;
  /** Only along this relation. */
  readonly relation?: string;
}

export interface Neighbourhood {
  /** The nearest first; `of` itself is the first. */
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** False when a bound cut it. */
  readonly complete: boolean;
}

/** The subject's own tasks. Not the plane's pending calls. */
export interface TaskList {
  create(task: NewTask): Promise<Task>;
  /** Null removes what it names. */
  update(change: TaskChange): Promise<Task>;
  complete(id: string): Promise<Task>;
  /** Newest first; open ones unless told. */
  list(query?: { readonly state?: 'open' | 'done' | 'all'; readonly limit?: number }): Promise<Task[]>;
  /** Open ones that are due by then (now unless told), the most urgent first. */
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
  /** One vector per text; at most 256 texts. */
  embed(texts: readonly string[]): Promise<number[][]>;
}
