/** An image like Docker's `node`, from Debian's packages and npm's: for a machine that cannot pull one. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Engine } from './engine.ts'

const NODE_VERSION = '24.21.0'
const NPM_VERSION = '11.21.2'
const SUITE = 'bookworm'
const NAME = 'localhost/claimcheck-base'
const CERTIFICATES = 'usr/local/share/build-certificates.pem'
const execute = promisify(execFile)

/** Returns its name. @throws Error where debootstrap is missing, or not run as root */
export async function buildDebianBase(engine: Engine): Promise<string> {
  console.log(`Building ${NAME}: Debian ${SUITE}, Node.js ${NODE_VERSION}`)
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-base-'))
  try {
    const root = join(folder, 'root')
    await execute('debootstrap', ['--variant=minbase', SUITE, root], { maxBuffer: 64 * 1024 * 1024 })
    await rm(join(root, 'var/cache/apt/archives'), { recursive: true })
    const packages = [`node-linux-${process.arch}@${NODE_VERSION}`, `npm@${NPM_VERSION}`]
    await execute('npm', ['install', '--prefix', join(root, 'opt/node'), '--ignore-scripts', ...packages])
    await symlink(`/opt/node/node_modules/node-linux-${process.arch}/bin/node`, join(root, 'usr/local/bin/node'))
    for (const name of ['npm', 'npx']) {
      await symlink(`/opt/node/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))
    }
    const extra = process.env.NODE_EXTRA_CA_CERTS
    if (extra) await copyFile(extra, join(root, CERTIFICATES))
    const lines = ['FROM scratch', 'COPY root /', ...(extra ? [`ENV NODE_EXTRA_CA_CERTS=/${CERTIFICATES}`] : [])]
    await writeFile(join(folder, 'Containerfile'), `${lines.join('\n')}\n`)
    await engine.build(['-f', join(folder, 'Containerfile'), '-t', NAME, folder])
    return NAME
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
