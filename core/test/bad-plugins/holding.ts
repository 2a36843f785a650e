/** A process that runs the kit on a plugin that holds the processor: `node holding.js setup`, `check` or `answer`. */
import { examine } from './cases.ts'
import { parts, ticketPlugin } from './good.ts'

const [, , where] = process.argv

/** Holds it as a loop does, without keeping it from others. */
function hold(): never {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  throw new Error('it goes on')
}

const plugins: Readonly<Record<string, () => ReturnType<typeof ticketPlugin>>> = {
  setup: () => ticketPlugin({ setup: hold }),
  check: () => ticketPlugin({ parts: { check: async () => hold() } }),
  /** Once the destination fails. */
  answer: () =>
    ticketPlugin({
      parts: {
        check: (look, all) =>
          parts
            .check(look, all)
            .catch((error: { status?: number }) => (error.status === 502 ? hold() : Promise.reject(error))),
      },
    }),
}

await examine(plugins[where!]!(), ['closed'])
