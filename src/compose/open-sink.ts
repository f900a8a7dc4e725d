import { openPostgresSink } from '../audit/postgres-sink.ts';
import { openSqliteSink } from '../audit/sqlite-sink.ts';
import type { AuditSink } from '../ports/audit-store.ts';
import type { SinkOptions } from './audit-options.ts';

export function openSink(options: SinkOptions): Promise<AuditSink> {
  return options.kind === 'postgres' ? openPostgresSink(options) : openSqliteSink(options.file);
}
