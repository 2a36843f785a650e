/** A process that runs the kit on a plugin that holds the processor: `node holding.js setup`, `check` or `answer`. */
import { examine } from './cases.ts'
import { parts, ticketPlugin } from './good.ts'

const [, , where] = process.argv

function loop(): never {
  for (;;);
}

const plugins: Readonly<Record<string, () => ReturnType<typeof ticketPlugin>>> = {
  setup: () => ticketPlugin({ setup: loop }),
  check: () => ticketPlugin({ parts: { check: async () => loop() } }),
  /** Once the destination fails. */
  answer: () =>
    ticketPlugin({
      parts: {
        check: (look, all) =>
          parts
            .check(look, all)
            .catch((error: { status?: number }) => (error.status === 502 ? loop() : Promise.reject(error))),
      },
    }),
}

await examine(plugins[where!]!(), ['closed'])
