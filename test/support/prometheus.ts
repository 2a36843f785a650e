/** A real Prometheus for tests, where the machine has one. It scrapes what it is pointed at, and answers queries. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { findProgram } from './programs.ts'

const PROMETHEUS = findProgram('prometheus')
export const PROMTOOL = findProgram('promtool')
export const WITHOUT_PROMETHEUS = PROMETHEUS === undefined ? 'prometheus is not installed' : false
export const WITHOUT_PROMTOOL = PROMTOOL === undefined ? 'promtool is not installed' : false

export interface Prometheus {
  /** @param url of a service, whose `/metrics` are scraped from now on @param slowly where an answer takes seconds */
  scrape(url: string, slowly?: 'slowly'): Promise<void>
  /** Scrapes these services alone from now on. */
  scrapeAll(urls: readonly string[]): Promise<void>
  /** Whether the expression has a result, as an alert needs it. */
  isTrue(expression: string): Promise<boolean>
  /** Waits until it has. False when it takes too long. */
  becomesTrue(expression: string): Promise<boolean>
  remove(): Promise<void>
}

const EVERY_MS = { quick: 500, slow: 4000 }
const LONGEST_WAIT_MS = 30_000

/** @param rules a file of alert rules, which are evaluated as often as services are scraped */
export async function startPrometheus(rules?: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-prometheus-'))
  const targetsOf = (pace: string) => join(folder, `${pace}.json`)
  const scrape_configs = Object.entries(EVERY_MS).map(([pace, ms]) => ({
    job_name: pace,
    scrape_interval: `${ms}ms`,
    scrape_timeout: `${ms}ms`,
    file_sd_configs: [{ files: [targetsOf(pace)] }],
    relabel_configs: [{ target_label: 'job', replacement: 'claimcheck' }],
  }))
  const config = {
    global: { evaluation_interval: `${EVERY_MS.quick}ms` },
    scrape_configs,
    rule_files: rules === undefined ? [] : [resolve(rules)],
  }
  async function aim(pace: string, hosts: readonly string[]): Promise<void> {
    await writeFile(`${targetsOf(pace)}.new`, JSON.stringify([{ targets: hosts }]))
    await rename(`${targetsOf(pace)}.new`, targetsOf(pace))
  }
  for (const pace of Object.keys(EVERY_MS)) await writeFile(targetsOf(pace), '[]')
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const port = await freePort()
  const options = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const program = spawn(PROMETHEUS!, options, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) await setTimeout(50)

  async function isTrue(expression: string): Promise<boolean> {
    const body = new URLSearchParams({ query: expression })
    const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body })
    const { data, error } = (await answer.json()) as { data?: { result: unknown[] }; error?: string }
    if (!data) throw new Error(`${expression}: ${error}`)
    return data.result.length > 0
  }

  async function becomesTrue(expression: string): Promise<boolean> {
    for (const end = Date.now() + LONGEST_WAIT_MS; Date.now() < end; await setTimeout(100))
      if (await isTrue(expression)) return true
    return false
  }

  return {
    async scrape(service, slowly) {
      const { host } = new URL(service)
      for (const pace of Object.keys(EVERY_MS))
        await aim(pace, (pace === 'slow') === (slowly !== undefined) ? [host] : [])
      await becomesTrue(`up{instance="${host}"} == 1`)
    },
    scrapeAll: (urls) =>
      aim(
        'quick',
        urls.map((one) => new URL(one).host),
      ),
    isTrue,
    becomesTrue,
    async remove() {
      program.kill()
      await once(program, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
