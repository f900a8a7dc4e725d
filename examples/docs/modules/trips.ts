import { defineModule } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'trips',
  version: '1.0.0',
  description: 'Books trips.',
  tools: (tool) => ({
    // #region asking
    book: tool({
      description: 'Books a trip. Asks which class before it does.',
      effect: 'unsafe',
      input: z.object({ to: z.string() }),
      run({ to }, ctx) {
        const { comfort } = ctx.requestInput({
          comfort: {
            kind: 'elicit',
            message: `Which class to ${to}?`,
            schema: z.object({ class: z.enum(['first', 'second']) }),
          },
        });
        if (comfort.action !== 'accept') return 'Nothing was booked.';
        ctx.notify('info', { booking: to });
        return `Booked to ${to}, ${comfort.content.class} class.`;
      },
    }),
    // #endregion
  }),
});
