/** Recognizes the plugins that come with the server, which it trusts as it trusts itself: by their place and their digest, never by name. */
import { readFile, realpath } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { PluginPackage } from './package.ts'

/** The list of shipped plugins, which the build of the server writes. An edited plugin differs from it until the next build. */
const LIST = new URL('../shipped-plugins.json', import.meta.url)
const SERVER = new URL('../../', import.meta.url)

export interface ShippedPlugin {
  /** The plugin's path relative to the package of the server: in the repository, and where npm installs both. */
  readonly path: string
  readonly codeHash: string
}

export async function isShipped({ root, codeHash }: Pick<PluginPackage, 'root' | 'codeHash'>): Promise<boolean> {
  const shipped = (await shippedPlugins()).filter((plugin) => plugin.codeHash === codeHash)
  const roots = await Promise.all(shipped.map(({ path }) => realFolder(path)))
  return root !== undefined && roots.includes(root)
}

/** Reads the list of shipped plugins. No plugin is trusted without it. */
async function shippedPlugins(): Promise<readonly ShippedPlugin[]> {
  try {
    return JSON.parse(await readFile(LIST, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function realFolder(path: string): Promise<string | undefined> {
  try {
    return await realpath(fileURLToPath(new URL(path, SERVER)))
  } catch {
    return undefined
  }
}
