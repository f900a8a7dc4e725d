import { entry } from './error-entry.ts';

export const SERVICE_PLANE_ERRORS = {
  SERVICES_INVALID: entry({
    stage: 'operate',
    retry: 'after-the-fix',
    say: (d: { problems: string[] }) => `The services cannot be used: ${d.problems.join('; ')}.`,
    fix: 'See docs/services.md. Nothing is served without the services that are configured.',
  }),
  SERVICE_FAILED: entry({
    stage: 'operate',
    retry: 'after-a-while',
    say: (d: { service: string; problem: string }) => `The service ${d.service} could not be started: ${d.problem}.`,
    fix: 'Look at what it needs, then start the worker again. Services that had started were stopped.',
  }),
} as const;
