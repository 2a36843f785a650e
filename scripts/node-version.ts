/** Other versions of Node.js than the one that runs this: their binaries come from npm, in packages that run no script. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What people run. `.ci/run` names the same. */
const RELEASES: Readonly<Record<string, string>> = {
  20: '20.20.2',
  22: '22.23.3',
  24: '24.21.0',
  26: '26.10.0',
}
const CACHE = 'node_modules/.cache/node'

/**
 * The folder of a version's program `node`, by its absolute path. What is not there yet is installed.
 *
 * @param version a major version of the table, or any full one
 * @throws Error for another text, or what npm says
 */
export function nodeFolder(version: string): string {
  const release = RELEASES[version] ?? version
  if (!/^\d+\.\d+\.\d+$/.test(release)) {
    throw new Error(
      `--node ${version}: name one of ${Object.keys(RELEASES).join(', ')}, or a full version such as 24.0.0`,
    )
  }
  const folder = resolve(CACHE, release)
  if (!existsSync(folder)) install(release, folder)
  return join(folder, 'node_modules', platformPackage(), 'bin')
}

function platformPackage(): string {
  const { platform, arch } = process
  return `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`
}

/** Installs into a temporary folder first, as another run may install the same. */
function install(release: string, folder: string): void {
  mkdirSync(CACHE, { recursive: true })
  const made = mkdtempSync(`${folder}-`)
  try {
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    const args = ['install', `${platformPackage()}@${release}`, '--prefix', made, ...quiet]
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    if (!existsSync(folder)) renameSync(made, folder)
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
