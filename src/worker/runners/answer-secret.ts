import { errorOutcome } from '../../domain/errors/errors.ts';
import type { RunRequest, SecretAnswer } from '../../domain/ports/tool-runner.ts';

/** Answers a tool that asks for a secret. A tool that declares no secrets gets a refusal. */
export async function answerSecret({ onSecret, tool }: RunRequest, name: string): Promise<SecretAnswer> {
  if (onSecret !== undefined) return onSecret(name);
  return { kind: 'refused', outcome: errorOutcome('SECRET_UNDECLARED', { tool: tool.id, secret: name.slice(0, 64) }) };
}
