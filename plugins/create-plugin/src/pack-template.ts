/** Puts the template into this package before it is packed, and takes it away again afterwards (`--remove`). */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OWN_TEMPLATE, TEMPLATE_PARTS, TEMPLATE_SOURCE } from './template.ts'

await rm(OWN_TEMPLATE, { recursive: true, force: true })
if (!process.argv.includes('--remove')) {
  for (const part of TEMPLATE_PARTS) {
    await cp(join(TEMPLATE_SOURCE, part), join(OWN_TEMPLATE, part), { recursive: true })
  }
}
