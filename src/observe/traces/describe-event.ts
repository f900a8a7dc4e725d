import type { DiagnosticEvent } from '../../domain/events/diagnostic-event.ts';
import type { EventError } from '../../domain/outcome/error-category.ts';
import type { Stage } from '../../domain/call/stages.ts';
import type { ValueSummary } from '../../domain/events/summarise-value.ts';
import { ATTRIBUTE, MCP_TOOL_CALL } from './conventions.ts';
import type { Attributes, SpanNote } from './span-draft.ts';

/** The attributes of every span of a call. */
export function attributesOfStage(stage: Stage, { callId, tool }: DiagnosticEvent): Attributes {
  return { [ATTRIBUTE.stage]: stage, [ATTRIBUTE.callId]: callId, [ATTRIBUTE.tool]: tool };
}

/**
 * The identity of a call. Only the spans where the call begins, is admitted by a worker and runs have these attributes. On the other spans
 * they would only take space.
 */
export function attributesOfCall(event: DiagnosticEvent): Attributes {
  return {
    [ATTRIBUTE.attemptId]: event.attemptId,
    [ATTRIBUTE.agent]: event.agent,
    [ATTRIBUTE.tenant]: event.tenant,
    [ATTRIBUTE.session]: event.session,
    [ATTRIBUTE.run]: event.run,
    [ATTRIBUTE.via]: event.via,
    [ATTRIBUTE.mcpMethod]: event.via === 'mcp' ? MCP_TOOL_CALL : undefined,
  };
}

interface Ended {
  readonly outcome?: string;
  readonly executed?: string;
  readonly error?: EventError;
}

export function attributesOfEnd({ outcome, executed, error }: Ended): Attributes {
  return {
    [ATTRIBUTE.outcome]: outcome,
    [ATTRIBUTE.executed]: executed,
    [ATTRIBUTE.errorType]: error && (error.code ?? error.category),
    [ATTRIBUTE.category]: error?.category,
    [ATTRIBUTE.retryable]: error?.retryable,
    [ATTRIBUTE.upstreamStatus]: error?.status,
  };
}

export function bytesOf(parameters: ValueSummary | undefined): number | undefined {
  return parameters !== undefined && 'bytes' in parameters ? parameters.bytes : undefined;
}

/** Returns the span note for an event that happens during the gate stage without ending it. */
export function noteOf(event: DiagnosticEvent): SpanNote | undefined {
  const note = (attributes: Attributes): SpanNote => ({ name: event.kind, atMs: event.at, attributes });
  switch (event.kind) {
    case 'loop.warned':
    case 'loop.blocked':
      return note({ [ATTRIBUTE.detector]: event.detector, [ATTRIBUTE.count]: event.count });
    case 'hook.failed':
      return note({ [ATTRIBUTE.hook]: event.hook, [ATTRIBUTE.hookFailure]: event.how });
    case 'approval.requested':
      return note({ [ATTRIBUTE.approvalId]: event.approvalId });
    case 'approval.resolved':
      return note({ [ATTRIBUTE.approvalId]: event.approvalId, [ATTRIBUTE.resolution]: event.resolution });
    default:
      return undefined;
  }
}
