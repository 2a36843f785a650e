/** A device with passkeys, without a browser: it answers what our pages ask, and, told to, wrongly. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Wrong {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly userHandle?: string
  readonly counter?: number
  readonly isRecognised?: boolean
  readonly type?: string
}

interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id: string }
  readonly user?: { readonly id: string }
}

const PRESENT = 0x01
const RECOGNISED = 0x04
const WITH_CREDENTIAL = 0x40

export class Device {
  readonly id = randomBytes(16).toString('base64url')
  readonly #origin: string
  readonly #key: KeyObject
  readonly #publicKey: Buffer
  #userHandle = ''
  #counter = 0

  constructor(origin: string) {
    this.#origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#key = privateKey
    const { x, y } = publicKey.export({ format: 'jwk' })
    // COSE, RFC 9052: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ])
  }

  /** As `navigator.credentials.create()` answers, as JSON. */
  create(options: Options, wrong: Wrong = {}): string {
    this.#userHandle = options.user!.id
    const id = Buffer.from(this.id, 'base64url')
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, this.#publicKey])
    const data = this.#authenticatorData(options.rp!.id, WITH_CREDENTIAL, wrong)
    const authData = Buffer.concat([data, attested])
    // CBOR, RFC 8949: {"fmt": "none", "attStmt": {}, "authData": bytes}
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.from([authData.length >> 8, authData.length & 255]),
      authData,
    ])
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', options, wrong).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    })
  }

  /** As `navigator.credentials.get()` answers, as JSON. */
  get(options: Options, wrong: Wrong = {}): string {
    this.#counter += 1
    const clientData = this.#clientData('webauthn.get', options, wrong)
    const data = this.#authenticatorData(options.rpId!, 0, wrong)
    const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), this.#key)
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: wrong.userHandle ?? this.#userHandle,
    })
  }

  #credential(response: object): string {
    return JSON.stringify({ id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response })
  }

  #clientData(type: string, { challenge }: Options, wrong: Wrong): Buffer {
    const origin = wrong.origin ?? this.#origin
    return Buffer.from(
      JSON.stringify({ type: wrong.type ?? type, challenge: wrong.challenge ?? challenge, origin, crossOrigin: false }),
    )
  }

  #authenticatorData(rpId: string, flags: number, wrong: Wrong): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(wrong.counter ?? this.#counter)
    const recognised = wrong.isRecognised === false ? 0 : RECOGNISED
    return Buffer.concat([sha256(wrong.rpId ?? rpId), Buffer.from([flags | PRESENT | recognised]), counter])
  }
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
