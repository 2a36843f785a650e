/** Debian's Apache httpd, with WebDAV. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../../test/support/free-port.ts'
import { startServer, temporaryFolder } from './service-process.ts'

const MODULES = '/usr/lib/apache2/modules'
const NAMES = ['mpm_event', 'authz_core', 'dav', 'dav_fs', 'mime', 'dir']

export const NO_APACHE = existsSync(`${MODULES}/mod_dav.so`)
  ? false
  : 'there is no Apache httpd: apt-get install apache2'

export interface Apache {
  readonly url: string
  readonly folder: string
}

/** `/dav/` shows the folder's `dav` to anybody. */
export async function startApache(t: Test, program: string): Promise<Apache> {
  const folder = temporaryFolder(t)
  const port = await freePort()
  for (const name of ['root/dav', 'lock']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'root/dav/note.txt'), 'a note')
  const config = [
    `ServerRoot ${folder}`,
    'ServerName 127.0.0.1',
    `Listen 127.0.0.1:${port}`,
    `PidFile ${folder}/pid`,
    `DefaultRuntimeDir ${folder}`,
    `ErrorLog ${folder}/errors`,
    ...NAMES.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
    'TypesConfig /etc/mime.types',
    `DocumentRoot ${folder}/root`,
    `DavLockDB ${folder}/lock/db`,
    '<Location />\nRequire all granted\n</Location>',
    '<Location /dav>\nDav On\n</Location>',
  ]
  writeFileSync(join(folder, 'httpd.conf'), config.join('\n'))
  await startServer(t, program, ['-f', join(folder, 'httpd.conf'), '-D', 'FOREGROUND'], port)
  return { url: `http://127.0.0.1:${port}`, folder }
}
