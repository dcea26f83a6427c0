import {
  ResourceUpdatedNotificationSchema,
  SubscriptionsAcknowledgedNotificationSchema,
  SubscriptionsListenResultSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/core";
import {
  acknowledgedNotification,
  completeResult,
  type JsonValue,
  listenNotification,
  listenResult,
  readListen,
  resultEnding,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const subscriptionId = "io.modelcontextprotocol/subscriptionId";

describe("a filter", () => {
  test("asks for nothing but what it names", () => {
    expect(readListen(1, { notifications: {} })).toEqual({
      toolsListChanged: false,
      promptsListChanged: false,
      resourcesListChanged: false,
      resourceSubscriptions: undefined,
    });
    const notifications = { toolsListChanged: true, promptsListChanged: false, ofLater: [1] };
    expect(readListen(1, { notifications })).toMatchObject({
      toolsListChanged: true,
      promptsListChanged: false,
    });
  });

  test("names each resource once", () => {
    const resourceSubscriptions = ["test://a", "test://b", "test://a"];
    const filter = readListen("x", { notifications: { resourceSubscriptions } });
    expect(filter.resourceSubscriptions).toEqual(["test://a", "test://b"]);
  });

  const wrong: readonly (readonly [string, JsonValue | undefined])[] = [
    ["is missing", undefined],
    ["is null", null],
    ["is a list", ["toolsListChanged"]],
    ["has a flag that is no boolean", { toolsListChanged: "yes" }],
    ["has null for a flag", { promptsListChanged: null }],
    ["has a flag that is a number", { resourcesListChanged: 1 }],
    ["has URIs that are no list", { resourceSubscriptions: "test://a" }],
    ["has URIs as an object", { resourceSubscriptions: { 0: "test://a", length: 1 } }],
    ["has a URI that is no text", { resourceSubscriptions: ["test://a", 7] }],
    ["has an empty URI", { resourceSubscriptions: [""] }],
    ["has null for URIs", { resourceSubscriptions: null }],
    ["has 1001 URIs", { resourceSubscriptions: Array.from({ length: 1001 }, (_, n) => `t:${n}`) }],
    ["has URIs of 65537 characters", { resourceSubscriptions: [`t:${"x".repeat(65_535)}`] }],
  ];
  test.each(wrong)("that %s is refused as wrong parameters", (_what, notifications) => {
    const params = notifications === undefined ? {} : { notifications };
    expect(() => readListen(1, params)).toThrow(
      expect.objectContaining({ code: "INVALID_PARAMS" }),
    );
  });

  test("comes with an id that every notification can repeat", () => {
    const params = { notifications: {} };
    expect(() => readListen("x".repeat(256), params)).not.toThrow();
    expect(() => readListen("x".repeat(257), params)).toThrow(
      expect.objectContaining({ code: "INVALID_PARAMS" }),
    );
  });
});

describe("what goes out on a subscription", () => {
  test.each([7, 0, "seven"])("is what the schema wants and names subscription %s", (id) => {
    const messages = [
      [
        SubscriptionsAcknowledgedNotificationSchema,
        acknowledgedNotification(id, { toolsListChanged: true }),
      ],
      [
        ToolListChangedNotificationSchema,
        listenNotification("notifications/tools/list_changed", id),
      ],
      [
        ResourceUpdatedNotificationSchema,
        listenNotification("notifications/resources/updated", id, { uri: "test://a" }),
      ],
    ] as const;
    for (const [schema, text] of messages) {
      const message = JSON.parse(text);
      expect(schema.safeParse(message).error).toBeUndefined();
      expect(message.params._meta).toEqual({ [subscriptionId]: id });
    }
  });

  test("ends with a complete result that names it too", () => {
    const info = { name: "fixture-server", version: "1.0.0" };
    const result = JSON.parse(completeResult(listenResult(4), resultEnding(info)));
    expect(result).toEqual({
      resultType: "complete",
      _meta: { [subscriptionId]: 4, "io.modelcontextprotocol/serverInfo": info },
    });
    expect(SubscriptionsListenResultSchema.safeParse(result).success).toBe(true);
  });
});
