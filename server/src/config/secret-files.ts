/** Secrets in files, as Docker, Kubernetes and systemd give them: `SECRET_KEY_FILE` names the file with the value of `SECRET_KEY`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Env, Report } from './section.ts'

const NAMES = ['SECRET_KEY', 'SECRET_KEY_ALSO', 'METRICS_TOKEN', 'SMTP_URL'] as const

/** Returns the environment with the contents of the secret files. The problems that it reports never repeat a content. */
export function readSecretFiles(env: Env, cwd: string, report: Report): Env {
  const found: Record<string, string> = {}
  for (const name of NAMES) {
    const path = env[`${name}_FILE`]
    if (!path) continue
    if (env[name]) {
      report(`${name}_FILE: ${name} is set, too: remove one of them`)
      continue
    }
    try {
      found[name] = readFileSync(resolve(cwd, path), 'utf8').trim()
    } catch (error) {
      report(`${name}_FILE: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`)
      continue
    }
    if (found[name] === '') report(`${name}_FILE: ${path} is empty`)
  }
  return { ...env, ...found }
}
