/** Lets a person stop what goes on for long, with Ctrl-C or SIGTERM, so that the command ends with what it knows. */

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Runs `work`, which ends soon after its signal is aborted. A second Ctrl-C or SIGTERM ends the process, as without this. */
export async function untilSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const stop = () => {
    forget()
    controller.abort()
  }
  const forget = () => {
    for (const name of SIGNALS) process.off(name, stop)
  }
  for (const name of SIGNALS) process.on(name, stop)
  try {
    await work(controller.signal)
  } finally {
    forget()
  }
}
