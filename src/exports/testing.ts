/** For tests and operators' scripts: the store itself, with everything it can do. */
export { openStore, type StoreOptions } from '../operate/open-store.ts';
export { startGateway, type GatewayOptions, type RunningGateway } from '../compose/start-gateway.ts';
export type { Attempt } from '../domain/call/attempt.ts';
export type { Catalog } from '../domain/tool/catalog.ts';
export { normaliseSelection, type SelectionInput } from '../domain/identity/selection.ts';
export { buildToolkit, type Toolkit } from '../domain/tool/toolkit.ts';
export type { Policy, PolicyRecord } from '../domain/policy/policy.ts';
export type { Outcome } from '../domain/outcome/outcome.ts';
export { keepsTrail, type AnyStore, type JournalStore, type Store, type TrailStore } from '../domain/ports/store.ts';
// The contract that every platform adapter must fulfil, for authors of adapters.
export { adapterContract, type AdapterCase, type AdapterUnderTest } from '../gateway/platform/adapter-contract.ts';
export { runOutbound, type OutboundSettings, type RunningOutbound } from '../gateway/platform/run-outbound.ts';
export type { ServedPlatform } from '../gateway/platform/deliver-effect.ts';
export type {
  AdapterEffect,
  AdapterOperation,
  DeliveryResult,
  OperationResult,
  PlatformAdapter,
} from '../domain/ports/platform-adapter.ts';
// Parts of a call's path without the rest of the plane. The benchmarks measure them separately.
export { gate } from '../stages/gate/gate.ts';
export type { IdentifiedCall } from '../domain/ports/staged-calls.ts';
export { createRedactor } from '../observe/redact/create-redactor.ts';
export { newRedactionKey } from '../observe/redact/redaction-key.ts';
export { attemptOf } from '../stages/settle/attempt-of.ts';
export { encodeHistory } from '../domain/call/history.ts';
// For a program that checks after a test what the calls left behind: the audit trail and the stored outcomes.
export { drainLanes } from '../audit/drain-lanes.ts';
export { openSqliteSink } from '../stores/sqlite/audit/sqlite-sink.ts';
export { verifyTrail, type Verification } from '../audit/verify-trail.ts';
export { callIdFor } from '../domain/identity/new-id.ts';
export { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
export { readAuditDetail } from '../domain/audit/audit-detail.ts';
