/**
 * The response to a batch of 2025-03-26: one JSON array, or one stream for all requests of the batch.
 *
 * Each request answers its own part. The array goes out when all have answered and none needed a stream; as soon as one
 * does, everything goes out over that stream, which ends with the last part.
 */
import type { CallResponse } from "./callPorts.ts";
import type { EventSink } from "./eventStream.ts";
import type { RequestResponse } from "./postResponse.ts";

/** Collects the parts of one batch. */
export class BatchResponse {
  readonly #whole: RequestResponse;
  #left: number;
  #bodies: string[] = [];
  #stream: EventSink | undefined;

  /** `whole` is the response to the POST; `size` the number of requests in it, above 0. */
  constructor(whole: RequestResponse, size: number) {
    this.#whole = whole;
    this.#left = size;
  }

  /** The response of one request. */
  part(): RequestResponse {
    return new Part(this);
  }

  answer(body: string): void {
    if (this.#stream === undefined) this.#bodies.push(body);
    else this.#stream.write(undefined, body);
    this.done();
  }

  done(): void {
    this.#left -= 1;
    if (this.#left > 0) return;
    if (this.#stream !== undefined) {
      this.#stream.end();
      this.#whole.ended("ok");
    } else if (this.#bodies.length > 0) this.#whole.json(200, `[${this.#bodies.join(",")}]`, "ok");
    else this.#whole.nothing();
  }

  stream(): EventSink {
    if (this.#stream !== undefined) return this.#stream;
    const stream = this.#whole.stream();
    this.#stream = stream;
    for (const body of this.#bodies) stream.write(undefined, body);
    this.#bodies = [];
    return stream;
  }
}

/** One request's part: HTTP statuses and challenges of single requests have no place in a batch. */
class Part implements RequestResponse {
  readonly #batch: BatchResponse;

  constructor(batch: BatchResponse) {
    this.#batch = batch;
  }

  json: CallResponse["json"] = (_status, body) => this.#batch.answer(body);

  stream(): EventSink {
    return new PartStream(this.#batch, this.#batch.stream());
  }

  nothing(): void {
    this.#batch.done();
  }

  ended(): void {
    // The metrics count the batch as one request.
  }

  challenge(): void {
    // The refusal itself says which scopes are missing.
  }
}

/** The shared stream as one call sees it: ending it ends only the call's part. */
class PartStream implements EventSink {
  readonly #batch: BatchResponse;
  readonly #stream: EventSink;
  #hasEnded = false;

  constructor(batch: BatchResponse, stream: EventSink) {
    this.#batch = batch;
    this.#stream = stream;
  }

  get isOpen(): boolean {
    return !this.#hasEnded && this.#stream.isOpen;
  }

  get writtenAt(): number {
    return this.#stream.writtenAt;
  }

  get expiresAt(): number | undefined {
    return this.#stream.expiresAt;
  }

  write(id: string | undefined, data: string): void {
    if (!this.#hasEnded) this.#stream.write(id, data);
  }

  comment(): void {
    if (!this.#hasEnded) this.#stream.comment();
  }

  retry(ms: number): void {
    if (!this.#hasEnded) this.#stream.retry(ms);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#batch.done();
  }
}
