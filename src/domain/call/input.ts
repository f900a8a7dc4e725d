import type { JsonObject, JsonValue } from '../../base/json.ts';

/**
 * What a tool can ask the person or program that calls it for. Nothing waits for the answer: the call ends, and its outcome states what is
 * missing. A caller that wants to continue makes a new call, which carries the answers and the state.
 */
export const INPUT_KINDS = ['elicit', 'elicit-url', 'sample', 'roots'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export type InputRequest =
  /** A form for a person: a flat object of texts, numbers, flags and choices. */
  | { readonly kind: 'elicit'; readonly message: string; readonly schema: JsonObject }
  /** A page that a person opens: for what must not pass through the caller, such as a password. */
  | { readonly kind: 'elicit-url'; readonly message: string; readonly url: string; readonly id: string }
  /** A prompt for the caller's own model. */
  | {
      readonly kind: 'sample';
      readonly messages: readonly SampleMessage[];
      readonly maxTokens: number;
      readonly system?: string;
      readonly temperature?: number;
      readonly stopSequences?: readonly string[];
    }
  /** The folders that the caller works in. */
  | { readonly kind: 'roots' };

export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export type InputRequests = Readonly<Record<string, InputRequest>>;

/** The input that a call carries. All of it is the caller's unproven claim. */
export interface GivenInput {
  /** The kinds of input that the caller can be asked for; absent if the caller did not state them. */
  readonly kinds?: readonly InputKind[];
  readonly responses?: JsonObject;
  /** The state exactly as the outcome that asked for input returned it. */
  readonly state?: string;
}

/** The facts of an outcome whose code is INPUT_REQUIRED. */
export interface RequiredInput {
  readonly requests: InputRequests;
  /** State that the caller sends back unchanged; absent if there is none. */
  readonly state?: string;
  /** Why given responses were not accepted, by name of the request. */
  readonly problems?: Readonly<Record<string, readonly string[]>>;
}

export function isInputKind(kind: JsonValue | undefined): kind is InputKind {
  return INPUT_KINDS.includes(kind as InputKind);
}
