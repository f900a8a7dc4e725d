import { describe, expect, it } from 'vitest';
import { defineModule, tool } from './define-module.ts';
import { describeModule } from './describe-module.ts';
import { jsonSchema } from './plain-schema.ts';

const shared = { id: 'm', version: '1.0.0', description: 'A module.' };
const plain = { description: 'A tool.', input: jsonSchema({ type: 'object' }) };

describe('the services a module needs', () => {
  it('are part of its description, each once', () => {
    const tools = { t: tool({ ...plain, run: () => ({}) }) };
    expect(describeModule({ ...shared, needs: ['tasks', 'shop', 'tasks'], tools }).needs).toEqual(['tasks', 'shop']);
    expect(describeModule({ ...shared, tools })).not.toHaveProperty('needs');
  });

  it.each([
    ['no list', 'tasks'],
    ['an odd name', ['../tasks']],
    ['too many', Array.from({ length: 21 }, (_, n) => `s${n}`)],
  ])('are refused with %s', (_, needs) => {
    const tools = { t: tool({ ...plain, run: () => ({}) }) };
    expect(() => describeModule({ ...shared, needs, tools })).toThrow(/service/);
  });

  it('are what ctx.services has, for the compiler too', () => {
    defineModule({
      ...shared,
      needs: ['tasks'],
      tools: (make) => ({
        t: make({
          ...plain,
          run: async (_, { services }) => {
            const [first] = await services.tasks.list();
            // @ts-expect-error: it was not declared
            void services.knowledge;
            return { title: first?.title };
          },
        }),
      }),
    });
    // @ts-expect-error: there is no such service
    defineModule({ ...shared, needs: ['crystalBall'], tools: {} });
    // @ts-expect-error: without `needs`, a tool gets no services
    tool({ ...plain, run: (_, { services }) => services.tasks });
    expect.assertions(0);
  });
});
