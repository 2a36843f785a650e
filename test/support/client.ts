/** What a test does with a workspace and its key. */
import type { Answer, Host } from './host.ts'

const LONGEST_WAIT_MS = 300
let claims = 0

export class Client {
  readonly workspaceId: string
  readonly key: string
  readonly #host: Host

  constructor(host: Host, workspaceId: string, key: string) {
    this.#host = host
    this.workspaceId = workspaceId
    this.key = key
  }

  /** The same workspace and key, asking another host. */
  at(host: Host): Client {
    return new Client(host, this.workspaceId, this.key)
  }

  request(path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.key}`, ...init.headers }
    return this.#host.request(path, { ...init, headers })
  }

  get(path: string): Promise<Answer> {
    return this.request(path)
  }

  /** Submits a valid claim. @param claim the fields that differ from it */
  submit(claim: object = {}): Promise<Answer> {
    const body = {
      client_claim_id: `claim-${++claims}`,
      agent_id: 'agent-1',
      action: 'test.outcome.reach',
      target: 'somewhere',
      params: { see: 'present' },
      claimed_at: new Date(this.#host.claimcheck.now()).toISOString(),
      ...claim,
    }
    return this.post(JSON.stringify(body))
  }

  post(body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('/v1/claims', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  }

  /** The claim's status once it is decided. It asks less often as time goes on: many claims may wait for long. */
  async decided(claimId: string, withinMs = 20_000): Promise<Answer['body']> {
    const end = Date.now() + withinMs
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 1.3, LONGEST_WAIT_MS)) {
      const { body } = await this.get(`/v1/claims/${claimId}`)
      if (body.state === 'decided') return body
      if (Date.now() > end) throw new Error(`claim ${claimId} is still queued: ${JSON.stringify(body)}`)
      await new Promise((done) => setTimeout(done, waitMs))
    }
  }
}
