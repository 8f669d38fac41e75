import type { AggregateStore, NewMessage, Stored } from '@gateway/mongo';

export interface MemoryStore<State extends object> extends AggregateStore<State> {
  documents: Map<string, Stored<State>>;
  /** Each is one command to the database. */
  calls: ('load' | 'insert' | 'update')[];
}

/** An aggregate store in memory with conditional writes, like the database's. */
export function memoryStore<State extends object>(...documents: Stored<State>[]): MemoryStore<State> {
  const store: MemoryStore<State> = {
    documents: new Map(documents.map((document) => [document._id, document])),
    calls: [],
    load(id) {
      store.calls.push('load');
      return Promise.resolve(store.documents.get(id) ?? null);
    },
    insert(id, body, messages) {
      store.calls.push('insert');
      if (store.documents.has(id)) return Promise.resolve(undefined);
      return keep({ ...body, _id: id, version: 1, ...outbox([], 0, messages) });
    },
    update(previous, body, messages) {
      store.calls.push('update');
      const { _id, version, eventSeq } = previous;
      if (store.documents.get(_id)?.version !== version) return Promise.resolve(undefined);
      return keep({ ...body, _id, version: version + 1, ...outbox(previous.outbox, eventSeq, messages) });
    },
  };

  function keep(document: Stored<State>): Promise<Stored<State>> {
    store.documents.set(document._id, document);
    return Promise.resolve(document);
  }

  return store;
}

function outbox(before: Stored<object>['outbox'], lastSeq: number, messages: readonly NewMessage[]) {
  return { outbox: [...before, ...messages], eventSeq: lastSeq + messages.length };
}
