import { Command } from 'commander';
import { viewUpstreams, type UpstreamView } from '../../operate/upstream-pins.ts';
import { action } from '../command-context.ts';
import { withStore } from '../with-store.ts';

export function upstreamsListCommand(): Command {
  return new Command('list').description('MCP servers, what was accepted of them, and what waits').action(
    action((context) =>
      withStore(context, async (store, { config }) => {
        const { terminal } = context;
        const views = await viewUpstreams(store, Object.keys(config.upstreams ?? {}));
        if (terminal.json) return terminal.printJson(views.map(showUpstream));
        if (views.length === 0) return terminal.note('There are no MCP servers. See docs/upstreams.md.');
        terminal.printTable(
          ['UPSTREAM', 'STATE', 'ACCEPTED', 'NEW', 'CHANGED', 'GONE'],
          views.map((view) => {
            const { state, accepted, added, changed, removed } = showUpstream(view);
            return [view.id, state, accepted, added.length, changed.length, removed.length].map(String);
          }),
        );
        const waiting = views.find((view) => showUpstream(view).state !== 'accepted');
        if (waiting !== undefined) terminal.note(`Look with: sallyport upstreams show ${waiting.id}`);
      }),
    ),
  );
}

export function showUpstream({ id, pins, offer, definitions, server }: UpstreamView) {
  const keysOf = (status: string): string[] => definitions.filter((one) => one.status === status).map(({ key }) => key);
  const [added, changed, removed] = [keysOf('added'), keysOf('changed'), keysOf('removed')];
  const waits = added.length + changed.length + removed.length + server.length > 0;
  const state =
    offer === undefined ? 'not connected yet' : pins === undefined ? 'not reviewed' : waits ? 'changed' : 'accepted';
  return { id, state, accepted: pins?.pins.length ?? 0, added, changed, removed, server };
}
