/** Reports one check of a claim to the author of its verifier: the answer first, then what it rests on. */

import { table } from '@claimcheck/command-line/run'
import { claimSentence, factSentences, outcomeSentence } from '@claimcheck/core/receipts'
import { formatInstant, isRead, type JsonObject } from '@claimcheck/core/rules'
import type { TrialRequest } from '@claimcheck/core/testkit'
import { visible } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS } from '@claimcheck/core/words/verdicts'
import type { Trial } from './trial.ts'

const REDACTED = '[credential]'

export function trialLines(trial: Trial): string[] {
  const { claim, record, requests, log } = trial
  const { profile } = trial
  const lines = [
    answer(trial),
    next(trial),
    '',
    `Plugin    ${pluginLine(trial)}`,
    `Claim     ${claimSentence(profile, claim)}`,
    ...(isRead(record) ? observationLines(trial) : []),
    '',
    ...requestLines(requests),
    ...(log.length === 0 ? [] : ['', 'Log', ...log.map(logLine)]),
  ]
  return lines.flatMap((line) => withoutSecrets(line, trial.secrets).split('\n').map(visible))
}

export function trialJson(trial: Trial): unknown {
  const { claim, record, decision, nextCheckAt, requests, log, secrets } = trial
  const { profile } = trial
  const value = {
    plugin: pluginJson(trial),
    claim: { action: claim.action, target: claim.target, params: claim.params, profile_version: profile.version },
    said: claimSentence(profile, claim),
    requests,
    ...(isRead(record)
      ? { observation: record.observation, source: record.source, facts_said: factSentences(profile, named(trial)) }
      : { failure: record.failure }),
    verdict: decision ? decision.verdict.value : null,
    reason_code: decision?.verdict.reasonCode ?? null,
    outcome_said: decision ? (outcomeOf(trial) ?? null) : null,
    next_check_at: nextCheckAt === undefined ? null : formatInstant(nextCheckAt),
    deadline_at: formatInstant(claim.deadlineAt),
    log,
  }
  return JSON.parse(withoutSecrets(JSON.stringify(value), secrets))
}

function pluginJson({ plugin: { how: _, ...plugin } }: Trial) {
  return plugin
}

function pluginLine({ plugin: { package: name, version, how } }: Trial): string {
  return `${name}${version === undefined ? '' : ` ${version}`}, ${how}`
}

function answer(trial: Trial): string {
  const { decision, record } = trial
  if (decision) {
    const { value, reasonCode } = decision.verdict
    const said = outcomeOf(trial) ?? (reasonCode === undefined ? '' : REASON_WORDS[reasonCode])
    return `${value}: ${said}`
  }
  if (isRead(record)) return `Not decided yet: ${seen(trial)}`
  const { code, status } = record.failure
  return `Not read: ${code}${status === undefined ? '' : `, by an answer with status ${status}`}. It says nothing for or against the agent.`
}

function seen({ record }: Trial): string {
  if (!isRead(record)) return ''
  const { observation } = record
  if (observation.kind === 'absent') return 'the check did not find the outcome. One read blames nobody.'
  return observation.differs.length === 0
    ? 'the check found the outcome, and when it appeared is open.'
    : `the check found another outcome: ${observation.differs.join(', ')}. One read blames nobody.`
}

function next({ decision, nextCheckAt, record, claim }: Trial): string {
  if (decision) return 'The service would sign a receipt now.'
  const seconds = Math.max(0, Math.round((nextCheckAt! - record.answeredAt) / 100) / 10)
  return `The service would check again in ${seconds} s, and look for the outcome until ${formatInstant(claim.deadlineAt)}.`
}

function outcomeOf(trial: Trial): string | undefined {
  const { profile } = trial
  return trial.decision && outcomeSentence(profile, trial.decision.verdict.value, named(trial))
}

function named({ claim: { target, params }, record }: Trial) {
  return { target, params, ...(isRead(record) ? { facts: record.observation.facts } : {}) }
}

function observationLines(trial: Trial): string[] {
  const { record } = trial
  if (!isRead(record)) return []
  const { kind, facts, stays, ...rest } = record.observation
  const others = Object.entries(rest).map(([name, value]) => `${name.padEnd(10)}${JSON.stringify(value)}`)
  return [
    ...factSentences(trial.profile, named(trial)).map((sentence) => `          ${sentence}`),
    '',
    `Saw       ${kind}`,
    ...others,
    `facts     ${JSON.stringify(facts)}`,
    ...(stays === undefined ? [] : [`stays     ${stays.length === 0 ? 'none' : ''}`, ...stays.map(stayLine)]),
    `clock     ${record.dated ? `off by ${record.clockOffsetMs} ms at most` : 'unknown: the destination sends no Date, so that its times count for nothing'}`,
  ]
}

type Stays = NonNullable<Extract<Trial['record'], { observation: unknown }>['observation']['stays']>

function stayLine({ appeared, removed, removedWhole }: Stays[number]): string {
  const end = removed ? `to ${momentOf(removed)}` : 'and still'
  return `          from ${momentOf(appeared)} ${end}${removedWhole ? ', gone with the whole of what held it' : ''}`
}

function momentOf({ notBefore, notAfter }: Stays[number]['appeared']): string {
  if (notBefore === undefined) return `before ${formatInstant(notAfter)}`
  return formatInstant(notBefore) + (notAfter > notBefore ? ` (up to ${notAfter - notBefore} ms later)` : '')
}

function requestLines(requests: readonly TrialRequest[]): string[] {
  if (requests.length === 0) return ['The check made no request.']
  const rows = requests.map(({ method, url, status, ms, bytes, auth, problem }) => [
    method,
    status === undefined ? '-' : String(status),
    `${ms} ms`,
    `${bytes} B`,
    `${url}${auth === undefined ? '' : ` with ${auth} ${REDACTED}`}${problem === undefined ? '' : `: ${problem}`}`,
  ])
  return [...table(['REQUEST', 'STATUS', 'TIME', 'READ', 'URL'], rows), ...privateHint(requests)]
}

/** Names the mistake that authors make first: the place to verify runs on their own machine. */
function privateHint(requests: readonly TrialRequest[]): string[] {
  const refused = requests.find(({ problem }) => /not sent: .*not (?:https|public)/.test(problem ?? ''))
  if (!refused) return []
  return [
    '',
    `To read a place that is private or speaks plain http, name it: ALLOW_PRIVATE=${new URL(refused.url).host}`,
  ]
}

function logLine({ level, message, fields }: Trial['log'][number]): string {
  const { problem, ...rest } = fields as JsonObject
  const details = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`
  return `  ${level}: ${message}${details}${typeof problem === 'string' ? `\n    ${problem.replaceAll('\n', '\n    ')}` : ''}`
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
}
