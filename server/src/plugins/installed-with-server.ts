/** The plugins that npm installs with the server, and the folder from where they are found. */
import { fileURLToPath } from 'node:url'

export const INSTALLED_WITH_SERVER: readonly string[] = ['codehost', 'http', 'registry'].map(
  (name) => `@claimcheck/plugin-${name}`,
)

export const SERVER_FOLDER = fileURLToPath(new URL('../..', import.meta.url))
