import type { InputKind, SampleMessage } from '../../domain/call/input.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';

/** One request of `ctx.requestInput`: what the caller is asked for. */
export type AskedInput =
  | {
      readonly kind: 'elicit';
      readonly message: string;
      /** Schema of a flat object: texts, numbers, flags, choices. Answers are checked against it. */
      readonly schema: StandardSchema | JsonObject;
    }
  | { readonly kind: 'elicit-url'; readonly message: string; readonly url: string; readonly id?: string }
  | {
      readonly kind: 'sample';
      readonly messages: readonly SampleMessage[];
      readonly maxTokens: number;
      readonly system?: string;
      readonly temperature?: number;
      readonly stopSequences?: readonly string[];
    }
  | { readonly kind: 'roots' };

export type AnswerTo<Asked extends AskedInput> = Asked extends {
  readonly kind: 'elicit';
  readonly schema: infer Schema;
}
  ? Elicited<Schema extends StandardSchema ? OutputOf<Schema> : JsonObject>
  : Asked extends { readonly kind: 'elicit-url' }
    ? { readonly action: 'accept' | 'decline' | 'cancel' }
    : Asked extends { readonly kind: 'sample' }
      ? SampledAnswer
      : RootsAnswer;

export type Elicited<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' };

export interface SampledAnswer {
  readonly role: string;
  /** The text of all parts of the content. */
  readonly text: string;
  /** The content as the caller's model gave it. */
  readonly content: JsonValue;
  readonly model?: string;
  readonly stopReason?: string;
}

export interface RootsAnswer {
  readonly roots: readonly { readonly uri: string; readonly name?: string }[];
}

export interface RequestInputOptions {
  /**
   * JSON of up to 64 KiB, given back as `ctx.input.state`. It passes through the caller: do not keep secrets in it, and do not take it
   * as a proof of anything.
   */
  readonly state?: JsonValue;
}

/** The input that the caller sent with the call. It is not proven: the plane checks only its size. */
export interface ToolInput {
  /** The kinds of input that the caller can be asked for; absent if the caller did not state them. */
  readonly kinds?: readonly InputKind[];
  readonly responses: Readonly<JsonObject>;
  readonly state?: JsonValue;
}
