import { CLOSED_POLICY, type Policy, type PolicyRecord } from '../../../domain/policy/policy.ts';
import type { WritePolicyAnswer, WritePolicyRequest } from '../../../domain/ports/policy-store.ts';
import { recordOfPolicy } from '../../administrative-record.ts';
import type { Transaction } from '../transaction.ts';
import { appendAdministration } from './append-audit.ts';

export function readPolicy({ database }: Transaction): PolicyRecord {
  const row = database.get<{ version: number; policy: string }>('SELECT version, policy FROM policy');
  if (row === undefined) return { version: 0, policy: CLOSED_POLICY };
  return { version: row.version, policy: JSON.parse(row.policy) as Policy };
}

export function readNewerPolicy(transaction: Transaction, { after }: { after: number }): PolicyRecord | undefined {
  return transaction.lane.policyVersion > after ? readPolicy(transaction) : undefined;
}

/** Replaces the policy. Raises the epoch in the same commit, so that no snapshot taken under the old policy counts as current. */
export function writePolicy(transaction: Transaction, request: WritePolicyRequest): WritePolicyAnswer {
  const { expectedVersion, policy } = request;
  const { database, lane } = transaction;
  const version = expectedVersion + 1;
  const text = JSON.stringify(policy);
  if (lane.policyVersion !== expectedVersion) {
    // The same writer repeats its request after a lost answer.
    const repeated = database.get('SELECT 1 FROM policy WHERE version = ? AND policy = ?', version, text) !== undefined;
    return repeated ? { kind: 'written', version } : { kind: 'conflict', version: lane.policyVersion };
  }
  appendAdministration(transaction, recordOfPolicy(readPolicy(transaction).policy, policy, version, request));
  database.run('DELETE FROM policy');
  database.run('INSERT INTO policy VALUES (?, ?)', version, text);
  lane.policyVersion = version;
  lane.raiseEpoch();
  return { kind: 'written', version };
}
