import { z } from '@hono/zod-openapi';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';

export const EXECUTED = ['no', 'yes', 'unknown'] as const;

/** A file of an outcome. Its bytes are never part of the JSON; they are fetched from `/v1/calls/{id}/files/{index}`. */
export const fileSchema = z
  .strictObject({
    index: z.int().min(0),
    name: z.string().optional(),
    mediaType: z.string(),
    bytes: z.int().min(0),
  })
  .meta({ id: 'CallFile' });
export type CallFile = z.infer<typeof fileSchema>;

const binaryBlock = <Kind extends 'image' | 'audio' | 'file'>(kind: Kind) =>
  fileSchema.extend({ kind: z.literal(kind) });

export const contentBlockSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('text'), text: z.string() }),
    z.strictObject({ kind: z.literal('structured'), value: z.unknown() }),
    /** A resource with its text, or with the index of its bytes. */
    z.strictObject({
      kind: z.literal('resource'),
      uri: z.string(),
      mediaType: z.string().optional(),
      text: z.string().optional(),
      index: z.int().min(0).optional(),
      bytes: z.int().min(0).optional(),
    }),
    binaryBlock('image'),
    binaryBlock('audio'),
    binaryBlock('file'),
  ])
  .meta({ id: 'ContentBlock' });
export type ContentBlockView = z.infer<typeof contentBlockSchema>;

export const outcomeSchema = z
  .strictObject({
    kind: z.enum(OUTCOME_KINDS),
    executed: z.enum(EXECUTED),
    retryable: z.boolean(),
    content: z.array(contentBlockSchema),
    structured: z.unknown().optional(),
    writeBacks: z
      .strictObject({
        files: z.array(fileSchema),
        messages: z.array(z.strictObject({ format: z.string(), body: z.record(z.string(), z.unknown()) })),
        injectedTools: z.array(z.strictObject({ tool: z.string(), description: z.string().optional() })),
        cost: z.number().optional(),
      })
      .optional(),
    error: z
      .strictObject({
        code: z.string(),
        message: z.string(),
        fix: z.string().optional(),
        facts: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
    advice: z.string().optional(),
  })
  .meta({ id: 'Outcome' });
export type OutcomeView = z.infer<typeof outcomeSchema>;
