/** Logs uncaught errors, with the plugin in whose code they arose: a slip of one plugin does not end the service. */
import type { LoadedPlugin } from './registry.ts'

interface StrayLogger {
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

type Traced = Pick<LoadedPlugin, 'name' | 'folder'>

/**
 * Begins to log uncaught errors without ending the process. Claims and the log are safe: rows that belong together are stored in one transaction. So
 * nothing is gained by a restart.
 * @returns a function that ends the listening
 */
export function logStrayErrors(plugins: readonly Traced[], logger: StrayLogger): () => void {
  const listener = (text: string) => (error: unknown) => {
    const plugin = pluginIn(error, plugins)
    logger.error({ err: error, ...(plugin === undefined ? {} : { plugin }) }, text)
  }
  const thrown = listener('an error that nothing caught')
  const rejected = listener('a promise that nothing awaited was rejected')
  process.on('uncaughtException', thrown)
  process.on('unhandledRejection', rejected)
  return () => {
    process.off('uncaughtException', thrown)
    process.off('unhandledRejection', rejected)
  }
}

/** Finds the plugin whose code is nearest to the error, by its stack. */
function pluginIn(error: unknown, plugins: readonly Traced[]): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : ''
  for (const line of stack.split('\n')) {
    const found = plugins.find(({ folder }) => line.includes(`${folder}/`))
    if (found) return found.name
  }
  return undefined
}
