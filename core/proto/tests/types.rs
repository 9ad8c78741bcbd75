//! The generated types: what is read and written again is the same, whoever wrote it and whenever.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use oxmcp_proto::types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The text of a JSON value without white space: keys in their order, numbers as they are, strings in one spelling.
fn compact(text: &str) -> String {
    let raw: &RawValue = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    match raw.get().as_bytes()[0] {
        b'"' => serde_json::to_string(&serde_json::from_str::<Cow<'_, str>>(raw.get()).unwrap()).unwrap(),
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap();
            let items: Vec<_> = items.iter().map(|item| compact(item.get())).collect();
            format!("[{}]", items.join(","))
        }
        b'{' => {
            let members: Members = serde_json::from_str(raw.get()).unwrap();
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", serde_json::to_string(key).unwrap(), compact(value.get())))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        _ => raw.get().to_owned(),
    }
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn write<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

/// Reads a value and checks that it is written as it came.
#[track_caller]
fn survives<T: DeserializeOwned + Serialize>(text: &str) -> T {
    let value: T = read(text);
    assert_eq!(compact(&write(&value)), compact(text));
    value
}

#[track_caller]
fn refused<T: DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(_) => panic!("accepted {text}"),
        Err(error) => error.to_string(),
    }
}

mod published {
    use super::*;

    /// The folder of schemas, if this machine has it.
    fn schemas() -> Option<PathBuf> {
        if let Some(named) = std::env::var_os("OXMCP_SCHEMAS") {
            let named = PathBuf::from(named);
            assert!(named.is_dir(), "OXMCP_SCHEMAS={} is no folder", named.display());
            return Some(named);
        }
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/schema");
        beside.is_dir().then_some(beside)
    }

    fn children(folder: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }

    type RoundTrip = fn(&str) -> serde_json::Result<String>;

    fn round_trip<T: DeserializeOwned + Serialize>(text: &str) -> serde_json::Result<String> {
        serde_json::to_string(&serde_json::from_str::<T>(text)?)
    }

    macro_rules! types {
        ($($name:ident)*) => {
            /// Every type that the specification has an example of.
            const TYPES: &[(&str, RoundTrip)] = &[$((stringify!($name), round_trip::<$name>)),*];
        };
    }

    types! {
        AudioContent BlobResourceContents BooleanSchema CallToolRequest CallToolRequestParams CallToolResult
        CallToolResultResponse CancelledNotification CancelledNotificationParams ClientCapabilities CompleteRequest
        CompleteRequestParams CompleteResult CompleteResultResponse CreateMessageRequest CreateMessageRequestParams
        CreateMessageResult DiscoverRequest DiscoverResult DiscoverResultResponse ElicitRequest ElicitRequestFormParams
        ElicitRequestURLParams ElicitResult EmbeddedResource GetPromptRequest GetPromptRequestParams GetPromptResult
        GetPromptResultResponse HeaderMismatchError ImageContent InputRequests InputRequiredResult InputResponses
        InternalError InvalidParamsError ListPromptsRequest ListPromptsResult ListPromptsResultResponse
        ListResourceTemplatesRequest ListResourceTemplatesResult ListResourceTemplatesResultResponse ListResourcesRequest
        ListResourcesResult ListResourcesResultResponse ListRootsRequest ListRootsResult ListToolsRequest ListToolsResult
        ListToolsResultResponse LoggingMessageNotification LoggingMessageNotificationParams MethodNotFoundError
        MissingRequiredClientCapabilityError ModelPreferences NumberSchema PaginatedRequestParams ParseError
        ProgressNotification ProgressNotificationParams PromptListChangedNotification ReadResourceRequest
        ReadResourceResult ReadResourceResultResponse Resource ResourceLink ResourceListChangedNotification
        ResourceUpdatedNotification ResourceUpdatedNotificationParams Root SamplingMessage ServerCapabilities StringSchema
        SubscriptionsAcknowledgedNotification SubscriptionsListenRequest SubscriptionsListenResult
        SubscriptionsListenResultResponse TextContent TextResourceContents TitledMultiSelectEnumSchema
        TitledSingleSelectEnumSchema Tool ToolListChangedNotification ToolResultContent ToolUseContent
        UnsupportedProtocolVersionError UntitledMultiSelectEnumSchema UntitledSingleSelectEnumSchema
    }

    /// Kinds that a union must know, and not only keep.
    fn is_known(name: &str, text: &str) -> bool {
        match name {
            "InputRequests" => read::<InputRequests>(text)
                .iter()
                .all(|(_, value)| !matches!(value, InputRequest::Unknown(_))),
            "InputResponses" => read::<InputResponses>(text)
                .iter()
                .all(|(_, value)| !matches!(value, InputResponse::Unknown(_))),
            "ElicitRequest" => !matches!(read::<ElicitRequest>(text).params, ElicitRequestParams::Unknown(_)),
            "CallToolResult" => {
                let content = read::<CallToolResult>(text).content;
                content.iter().all(|block| !matches!(block, ContentBlock::Unknown(_)))
            }
            _ => true,
        }
    }

    #[test]
    fn every_example_of_the_specification_survives() {
        let Some(schemas) = schemas() else {
            let line =
                "SKIPPED: the specification's examples; OXMCP_SCHEMAS names the folder that has 2026-07-28/examples\n";
            // Past the capture of test output, so that the line is seen.
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            return;
        };
        let mut seen = BTreeSet::new();
        for folder in children(&schemas.join("2026-07-28/examples")) {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let row = TYPES.iter().find(|(known, _)| *known == name);
            let (_, round_trip) = row.unwrap_or_else(|| panic!("{name} has examples: add it to TYPES"));
            for file in children(&folder) {
                let text = std::fs::read_to_string(&file).unwrap();
                let written = round_trip(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert_eq!(compact(&written), compact(&text), "{}", file.display());
                assert!(is_known(&name, &text), "{}: of no known kind", file.display());
            }
            seen.insert(name);
        }
        assert_eq!(seen.len(), TYPES.len(), "some types have no example any more");
    }
}

mod pass_through {
    use super::*;

    #[test]
    fn unknown_members_survive_at_every_level_and_in_their_place() {
        let result: CallToolResult = survives(
            r#"{"x-first":1,"content":[{"x":[1.50],"type":"text","annotations":{"y":{"z":1,"a":2},"priority":0.50},"text":"t"},
               {"type":"resource","resource":{"uri":"u:","text":"t","w":null},"v":false}],"_meta":{"n/s":1e3},"x-last":{}}"#,
        );
        assert_eq!(
            result.extra.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["x-first", "x-last"]
        );
        let ContentBlock::Text(text) = &result.content[0] else {
            panic!("{result:?}")
        };
        assert_eq!(text.extra.get("x").unwrap().get(), "[1.50]");
        let annotations = text.annotations.as_ref().unwrap();
        assert_eq!(annotations.extra.get("y").unwrap().get(), r#"{"z":1,"a":2}"#);
        assert_eq!(annotations.priority.as_ref().unwrap().as_f64(), 0.5);
        assert_eq!(result.meta.unwrap().extra.get("n/s").unwrap().get(), "1e3");
    }

    #[test]
    fn large_integers_key_order_and_number_text_survive_in_payloads() {
        let raw = r#"{"z":9007199254740993,"a":1.0,"m":1e3,"n":-0,"big":123456789012345678901234567890}"#;
        let request: CallToolRequest = survives(&format!(
            r#"{{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{{"name":"t","arguments":{raw}}}}}"#
        ));
        assert_eq!(request.params.arguments.unwrap().get(), raw);
        assert_eq!(request.id, RequestId::Integer(9_007_199_254_740_993));
        let result: CallToolResult = survives(&format!(r#"{{"structuredContent":{raw},"content":[]}}"#));
        assert_eq!(result.structured_content.unwrap().get(), raw);
        let tool: Tool = survives(&format!(r#"{{"name":"t","inputSchema":{raw},"outputSchema":{raw}}}"#));
        assert_eq!(tool.input_schema.get(), raw);
        let resource: Resource = survives(r#"{"uri":"u:","size":9007199254740993,"name":"n"}"#);
        assert_eq!(resource.size.unwrap().as_i64(), Some(9_007_199_254_740_993));
    }

    #[test]
    fn the_text_of_known_numbers_survives() {
        let params: ProgressNotificationParams = survives(r#"{"progressToken":"1","progress":1.0,"total":1e3}"#);
        assert_eq!(
            (params.progress.as_i64(), params.total.unwrap().as_f64()),
            (Some(1), 1000.0)
        );
        let result: ListToolsResult =
            survives(r#"{"ttlMs":5000.0,"cacheScope":"public","tools":[],"resultType":"complete"}"#);
        assert_eq!(result.ttl_ms.unwrap().as_i64(), Some(5000));
    }

    #[test]
    fn a_value_that_only_old_or_only_new_peers_send_as_null_is_kept_or_absent() {
        // Null is a value where any JSON is one; elsewhere it means absent.
        let error: ErrorObject = survives(r#"{"code":-32603,"message":"m","data":null}"#);
        assert_eq!(error.data.unwrap().get(), "null");
        let task: Task =
            survives(r#"{"taskId":"1","status":"working","ttl":null,"createdAt":"c","lastUpdatedAt":"l"}"#);
        assert!(task.ttl.is_none());
        let tool: Tool = read(r#"{"name":"t","inputSchema":{},"title":null,"_meta":null}"#);
        assert_eq!(write(&tool), r#"{"name":"t","inputSchema":{}}"#);
    }

    #[test]
    fn base64_is_unescaped_and_kept() {
        let image: ImageContent = read(r#"{"type":"image","data":"\/+8=","mimeType":"image\/png"}"#);
        assert_eq!((&*image.data, &*image.mime_type), ("/+8=", "image/png"));
    }
}

mod open {
    use super::*;

    #[test]
    fn one_unknown_block_does_not_cost_the_others() {
        let result: CallToolResult = survives(
            r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","x":1.0},{"type":"image","data":"AA=="},
               {"type":"resource_link","uri":"x://1","name":"n"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},7]}"#,
        );
        let [text, hologram, broken, link, audio, seven] = &*result.content else {
            panic!("{result:?}")
        };
        assert!(matches!(text, ContentBlock::Text(text) if text.text == "a"));
        assert!(matches!(hologram, ContentBlock::Unknown(json) if json.get() == r#"{"type":"hologram","x":1.0}"#));
        assert!(matches!(broken, ContentBlock::Unknown(_)));
        assert!(matches!(link, ContentBlock::ResourceLink(link) if link.uri == "x://1"));
        assert!(matches!(audio, ContentBlock::Audio(audio) if audio.mime_type == "audio/wav"));
        assert!(matches!(seven, ContentBlock::Unknown(_)));
    }

    #[test]
    fn unknown_values_of_enums_survive() {
        let message: PromptMessage = survives(r#"{"role":"narrator","content":{"type":"text","text":"t"}}"#);
        assert_eq!(message.role, Role::Other("narrator".to_owned()));
        assert_eq!(Role::from("user"), Role::User);
        assert_eq!(LoggingLevel::Warning.to_string(), "warning");
        let error = refused::<PromptMessage>(r#"{"role":5,"content":{}}"#);
        assert!(error.contains("`role`") && error.contains("string"), "{error}");
    }

    #[test]
    fn kinds_are_known_by_their_members_wherever_these_stand() {
        let contents: ReadResourceResult =
            survives(r#"{"contents":[{"blob":"AA==","uri":"u:"},{"text":"","uri":"u:"},{"uri":"u:"}]}"#);
        let [blob, text, neither] = &*contents.contents else {
            panic!("{contents:?}")
        };
        assert!(matches!(blob, ResourceContents::Blob(_)));
        assert!(matches!(text, ResourceContents::Text(_)));
        assert!(matches!(neither, ResourceContents::Unknown(_)));
        let prompt: CompletionReference = survives(r#"{"name":"p","type":"ref\/prompt"}"#);
        assert!(matches!(prompt, CompletionReference::Prompt(_)));
        assert!(matches!(
            survives(r#"{"type":"ref/resource","uri":"u:{x}"}"#),
            CompletionReference::ResourceTemplate(_)
        ));
        assert!(matches!(
            survives(r#"{"type":"ref/tool","name":"p"}"#),
            CompletionReference::Unknown(_)
        ));
    }

    #[test]
    fn one_block_and_a_list_of_them_are_both_content() {
        let one: SamplingMessage = survives(r#"{"role":"user","content":{"type":"text","text":"t"}}"#);
        assert_eq!(one.content.as_slice().len(), 1);
        let many: SamplingMessage = survives(
            r#"{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},{"type":"new"}]}"#,
        );
        assert!(matches!(
            many.content.as_slice()[0],
            SamplingMessageContentBlock::ToolResult(_)
        ));
        assert!(matches!(
            many.content.as_slice()[1],
            SamplingMessageContentBlock::Unknown(_)
        ));
    }
}

mod forms {
    use super::*;

    #[test]
    fn a_form_keeps_titles_defaults_and_the_order_of_its_fields() {
        let params: ElicitRequestParams = survives(
            r#"{"message":"m","requestedSchema":{"type":"object","required":["z"],"properties":{
               "z":{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"b"},
               "a":{"type":"integer","default":1.0,"minimum":0},
               "m":{"default":false,"type":"boolean"},
               "c":{"type":"string","oneOf":[{"const":"r","title":"Red"}]},
               "d":{"type":"array","items":{"anyOf":[{"title":"Red","const":"r"}]},"default":["r"]},
               "e":{"type":"array","items":{"type":"string","enum":["x"]},"maxItems":1},
               "f":{"type":"string","enum":["x"],"title":"F"},
               "g":{"type":"string","format":"email","maxLength":10},
               "h":{"type":"date"}}}}"#,
        );
        let ElicitRequestParams::Form(form) = params else {
            panic!("{params:?}")
        };
        let fields = &form.requested_schema.properties;
        let names: Vec<_> = fields.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["z", "a", "m", "c", "d", "e", "f", "g", "h"]);
        use PrimitiveSchemaDefinition as Field;
        let Some(Field::LegacyTitledEnum(legacy)) = fields.get("z") else {
            panic!("{fields:?}")
        };
        assert_eq!(
            legacy.enum_names.as_deref(),
            Some(&["A".to_owned(), "B".to_owned()][..])
        );
        assert_eq!(legacy.default.as_deref(), Some("b"));
        assert!(matches!(fields.get("a"), Some(Field::Number(field)) if field.kind == NumberSchemaType::Integer));
        assert!(matches!(fields.get("m"), Some(Field::Boolean(field)) if field.default == Some(false)));
        assert!(matches!(fields.get("c"), Some(Field::TitledSingleSelectEnum(field)) if field.one_of[0].value == "r"));
        assert!(matches!(fields.get("d"), Some(Field::TitledMultiSelectEnum(_))));
        assert!(matches!(fields.get("e"), Some(Field::UntitledMultiSelectEnum(_))));
        assert!(matches!(fields.get("f"), Some(Field::UntitledSingleSelectEnum(_))));
        assert!(matches!(fields.get("g"), Some(Field::String(field)) if field.format == Some(StringFormat::Email)));
        assert!(matches!(fields.get("h"), Some(Field::Unknown(_))));
    }

    #[test]
    fn an_answer_without_content_is_an_answer() {
        for action in ["accept", "decline", "cancel"] {
            let text = format!(r#"{{"action":"{action}"}}"#);
            let null: ElicitResult = read(&format!(r#"{{"action":"{action}","content":null}}"#));
            assert!(null.content.is_none());
            assert_eq!(write(&null), text);
            let absent: ElicitResult = survives(&text);
            assert_eq!(absent.action.as_str(), action);
        }
        let filled: ElicitResult = survives(r#"{"action":"accept","content":{"z":[],"a":9007199254740993}}"#);
        assert_eq!(filled.content.unwrap().get("a").unwrap().get(), "9007199254740993");
    }

    #[test]
    fn a_mode_decides_and_none_is_a_form() {
        let url: ElicitRequestParams = survives(r#"{"url":"https://x","mode":"url","message":"m"}"#);
        assert!(matches!(url, ElicitRequestParams::Url(_)));
        let form = r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
        assert!(matches!(survives(form), ElicitRequestParams::Form(_)));
        let strange = form.replace(r#""form""#, r#""hologram""#);
        assert!(matches!(survives(&strange), ElicitRequestParams::Unknown(_)));
    }
}

mod revisions {
    use super::*;

    #[test]
    fn messages_of_every_revision_are_read_by_the_same_types() {
        let old: CallToolRequest = survives(
            r#"{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"_meta":{"progressToken":1},"name":"t"}}"#,
        );
        assert_eq!(old.params.meta.unwrap().progress_token, Some(RequestId::from(1)));
        let new: CallToolRequest = survives(
            r#"{"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
               "io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/logLevel":"info"}},
               "id":"1","jsonrpc":"2.0"}"#,
        );
        let meta = new.params.meta.unwrap();
        assert_eq!(meta.protocol_version.as_deref(), Some("2026-07-28"));
        assert_eq!(meta.log_level, Some(LoggingLevel::Info));
        assert!(meta.client_capabilities.unwrap().roots.is_some());

        let old: InitializeRequestParams = survives(
            r#"{"protocolVersion":"2024-11-05","capabilities":{"roots":{"listChanged":true},"sampling":{}},
               "clientInfo":{"name":"c","version":"1"}}"#,
        );
        assert_eq!(old.capabilities.roots.unwrap().list_changed, Some(true));
        let _: CompleteRequestParams =
            survives(r#"{"ref":{"type":"ref/resource","uri":"u:"},"argument":{"name":"a","value":""}}"#);
        let _: CancelledNotificationParams = survives(r#"{"reason":"task"}"#);
    }

    #[test]
    fn a_request_inside_a_result_has_no_envelope_and_one_that_is_sent_has() {
        let inside: ListRootsRequest = survives(r#"{"method":"roots/list"}"#);
        assert_eq!(inside.missing_in("2025-11-25"), ["jsonrpc", "id"]);
        assert!(inside.missing_in("2026-07-28").is_empty());
        let sent: ListRootsRequest = survives(r#"{"jsonrpc":"2.0","id":4,"method":"roots/list","params":{}}"#);
        assert!(sent.missing_in("2025-11-25").is_empty());
        assert_eq!(sent.surplus_in("2026-07-28"), ["jsonrpc", "id"]);
    }

    #[test]
    fn what_one_revision_needs_and_another_lacks_is_told() {
        let mut tool = Tool::new("t", JsonObject::default());
        tool.icons = Some(vec![Icon::new("https://x/i.png")]);
        tool.output_schema = Some(JsonObject::default());
        assert_eq!(tool.surplus_in("2024-11-05"), ["icons", "outputSchema"]);
        assert_eq!(tool.surplus_in("2025-06-18"), ["icons"]);
        assert!(tool.surplus_in("2026-07-28").is_empty());
        assert!(tool.missing_in("2024-11-05").is_empty());
        let meta = RequestMetaObject::default();
        assert_eq!(
            meta.missing_in("2026-07-28"),
            [
                "io.modelcontextprotocol/clientCapabilities",
                "io.modelcontextprotocol/protocolVersion"
            ]
        );
        assert!(meta.missing_in("2025-11-25").is_empty());
        assert_eq!(RequestParams::default().missing_in("2026-07-28"), ["_meta"]);
    }

    #[test]
    fn the_table_of_methods_knows_who_sends_what_and_when() {
        let names: Vec<_> = methods().iter().map(|method| method.name).collect();
        assert!(names.is_sorted() && names.len() > 30, "{names:?}");
        let ping = method("ping").unwrap();
        assert!(ping.from_client.contains("2025-11-25") && ping.from_server.contains("2024-11-05"));
        assert!(!ping.from_client.contains("2026-07-28") && ping.result == Some("EmptyResult"));
        let elicit = method("elicitation/create").unwrap();
        assert_eq!(
            elicit.from_server.iter().collect::<Vec<_>>(),
            ["2025-06-18", "2025-11-25"]
        );
        assert_eq!(elicit.in_result.iter().collect::<Vec<_>>(), ["2026-07-28"]);
        assert!(elicit.from_client.is_empty());
        let capability = method("resources/subscribe").unwrap().capability.unwrap();
        assert!(capability.of_server && capability.path == "resources.subscribe");
        let progress = method("notifications/progress").unwrap();
        assert!(progress.is_notification && progress.result.is_none());
        assert_eq!(method("x/custom").map(|method| method.name), None);
    }

    #[test]
    fn every_type_that_a_method_names_is_in_the_table_of_types() {
        let known: BTreeSet<_> = objects().iter().map(|info| info.name).collect();
        for method in methods() {
            for name in [method.params, method.result].into_iter().flatten() {
                // The one union among them.
                assert!(
                    known.contains(name) || name == "ElicitRequestParams",
                    "{}: {name}",
                    method.name
                );
            }
        }
        for info in objects() {
            for member in info.members {
                let of_type: BTreeSet<_> = info.revisions.iter().collect();
                assert!(
                    member.revisions.iter().all(|name| of_type.contains(name)),
                    "{}.{}",
                    info.name,
                    member.name
                );
                assert!(
                    member.required.iter().all(|name| member.revisions.contains(name)),
                    "{}.{}",
                    info.name,
                    member.name
                );
            }
        }
    }
}

mod refusals {
    use super::*;

    #[test]
    fn an_error_names_the_member_and_what_is_wrong_with_it() {
        let rows = [
            (refused::<Tool>(r#"{"name":"t"}"#), "missing field `inputSchema`"),
            (
                refused::<Tool>(r#"{"name":5,"inputSchema":{}}"#),
                "`name`: invalid type: integer `5`, expected a string",
            ),
            (
                refused::<Tool>(r#"{"name":"t","inputSchema":[]}"#),
                "`inputSchema`: expected an object",
            ),
            (
                refused::<Tool>(r#"{"name":"t","name":"u","inputSchema":{}}"#),
                "duplicate field `name`",
            ),
            (refused::<Tool>("[]"), "expected an object, the specification's Tool"),
            (
                refused::<ListToolsResult>(r#"{"tools":[{"name":"t","inputSchema":3}]}"#),
                "`tools`: `inputSchema`: expected",
            ),
            (refused::<TextContent>(r#"{"text":"t"}"#), "missing field `type`"),
            (
                refused::<TextContent>(r#"{"type":"image","text":"t"}"#),
                "`type`: expected \"text\"",
            ),
            (
                refused::<ProgressNotificationParams>(r#"{"progressToken":1,"progress":"1"}"#),
                "`progress`: expected a number",
            ),
            (
                refused::<CancelledNotificationParams>(r#"{"requestId":1.5}"#),
                "`requestId`: expected a string or an integer",
            ),
        ];
        for (error, part) in rows {
            assert!(error.contains(part), "{error:?} should say {part:?}");
        }
    }

    #[test]
    fn content_that_a_peer_left_out_is_empty() {
        for text in [
            r#"{"structuredContent":{"a":1}}"#,
            r#"{"content":null,"structuredContent":{"a":1}}"#,
        ] {
            let result: CallToolResult = read(text);
            assert!(result.content.is_empty());
            assert!(write(&result).contains(r#""content":[]"#));
        }
    }
}
