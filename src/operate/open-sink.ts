import type { AuditSink } from '../domain/ports/audit-store.ts';
import type { SinkOptions } from './audit-options.ts';

/** Opens the audit sink. Loads only the code of the sink that is asked for. */
export async function openSink(options: SinkOptions): Promise<AuditSink> {
  if (options.kind === 'postgres') {
    const { openPostgresSink } = await import('../audit/postgres-sink.ts');
    return openPostgresSink(options);
  }
  const { openSqliteSink } = await import('../stores/sqlite/audit/sqlite-sink.ts');
  return openSqliteSink(options.file);
}
