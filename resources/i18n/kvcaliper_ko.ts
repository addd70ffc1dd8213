<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko" sourcelanguage="en">
<context>
    <name>LayerKind</name>
    <message>
        <source>full attention</source>
        <translation>전체 어텐션</translation>
    </message>
    <message>
        <source>sliding attention</source>
        <translation>슬라이딩 어텐션</translation>
    </message>
    <message>
        <source>chunked attention</source>
        <translation>청크 어텐션</translation>
    </message>
    <message>
        <source>cross-attention</source>
        <translation>크로스 어텐션</translation>
    </message>
    <message>
        <source>latent attention</source>
        <translation>잠재 어텐션</translation>
    </message>
    <message>
        <source>compressed attention</source>
        <translation>압축 어텐션</translation>
    </message>
    <message>
        <source>Mamba 1</source>
        <translation>Mamba 1</translation>
    </message>
    <message>
        <source>Mamba 2</source>
        <translation>Mamba 2</translation>
    </message>
    <message>
        <source>gated delta</source>
        <translation>게이트 델타</translation>
    </message>
    <message>
        <source>Kimi delta</source>
        <translation>Kimi 델타</translation>
    </message>
    <message>
        <source>lightning</source>
        <translation>라이트닝</translation>
    </message>
    <message>
        <source>gated linear</source>
        <translation>게이트 선형</translation>
    </message>
    <message>
        <source>RG-LRU</source>
        <translation>RG-LRU</translation>
    </message>
    <message>
        <source>short convolution</source>
        <translation>짧은 합성곱</translation>
    </message>
    <message>
        <source>RWKV 4</source>
        <translation>RWKV 4</translation>
    </message>
    <message>
        <source>RWKV</source>
        <translation>RWKV</translation>
    </message>
    <message>
        <source>mLSTM</source>
        <translation>mLSTM</translation>
    </message>
    <message>
        <source>convolution</source>
        <translation>합성곱</translation>
    </message>
    <message>
        <source>shared with another layer</source>
        <translation>다른 레이어와 공유</translation>
    </message>
    <message>
        <source>keeps nothing</source>
        <translation>보관하지 않음</translation>
    </message>
    <message>
        <source> (window %1)</source>
        <translation> (윈도 %1)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui</name>
    <message>
        <source>any number</source>
        <translation>제한 없음</translation>
    </message>
    <message>
        <source>any context</source>
        <translation>어떤 컨텍스트든</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>토큰 %1개</translation>
    </message>
    <message>
        <source>no answer</source>
        <translation>답 없음</translation>
    </message>
    <message>
        <source>fits, %1 free</source>
        <translation>들어감, %1 남음</translation>
    </message>
    <message>
        <source>lacks %1</source>
        <translation>%1 부족</translation>
    </message>
    <message>
        <source>at most %1 sequences; %2</source>
        <translation>최대 시퀀스 %1개; %2</translation>
    </message>
    <message>
        <source>%1: weights %2, workspace %3, cache %4, left for the cache %5</source>
        <translation>%1: 가중치 %2, 작업 공간 %3, 캐시 %4, 캐시에 남는 양 %5</translation>
    </message>
    <message>
        <source>usable %1</source>
        <translation>사용 가능 %1</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>%1 남음</translation>
    </message>
    <message>
        <source>&lt;b&gt;What would make it fit&lt;/b&gt;</source>
        <translation>&lt;b&gt;들어가게 하는 방법&lt;/b&gt;</translation>
    </message>
    <message>
        <source>&lt;b&gt;To paste&lt;/b&gt;</source>
        <translation>&lt;b&gt;붙여넣을 명령&lt;/b&gt;</translation>
    </message>
    <message>
        <source>lacks %1 under its own rules</source>
        <translation>자체 규칙으로 %1 부족</translation>
    </message>
    <message>
        <source>usable</source>
        <translation>사용 가능</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>가중치</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>캐시</translation>
    </message>
    <message>
        <source>headroom</source>
        <translation>여유</translation>
    </message>
    <message>
        <source>on %1, engine %2</source>
        <translation>%1, 엔진 %2</translation>
    </message>
    <message>
        <source>on %1 × %2, TP %1, engine %3</source>
        <translation>%1 × %2, TP %1, 엔진 %3</translation>
    </message>
    <message>
        <source>bytes on each device</source>
        <translation>장치마다의 바이트</translation>
    </message>
    <message>
        <source>What fits %1</source>
        <translation>무엇이 들어가는가: %1</translation>
    </message>
    <message>
        <source>%1 of %2 tokens, K %3, V %4</source>
        <translation>토큰 %2개의 %1, K %3, V %4</translation>
    </message>
    <message>
        <source>1 sequence</source>
        <translation>시퀀스 1개</translation>
    </message>
    <message>
        <source>%1 sequences</source>
        <translation>시퀀스 %1개</translation>
    </message>
    <message>
        <source>weights and workspace</source>
        <translation>가중치와 작업 공간</translation>
    </message>
    <message>
        <source>On this device rather &lt;code&gt;%1&lt;/code&gt;: %2</source>
        <translation>이 장치에서는 오히려 &lt;code&gt;%1&lt;/code&gt;: %2</translation>
    </message>
    <message>
        <source>%1 K/V</source>
        <translation>%1 K/V</translation>
    </message>
    <message>
        <source>%1 K, %2 V</source>
        <translation>%1 K, %2 V</translation>
    </message>
    <message>
        <source>%1 fixed</source>
        <translation>고정 %1</translation>
    </message>
    <message>
        <source>%1 past its windows</source>
        <translation>윈도를 지나면 %1</translation>
    </message>
    <message>
        <source>%1 past %2 tokens</source>
        <translation>토큰 %2개를 지나면 %1</translation>
    </message>
    <message>
        <source>0 B/token</source>
        <translation>0 B/토큰</translation>
    </message>
    <message>
        <source>%1: uncapped %2 per token, growth %3 per token, constant %4 per sequence</source>
        <translation>%1: 토큰당 상한 없음 %2, 토큰당 증가분 %3, 시퀀스당 고정분 %4</translation>
    </message>
    <message>
        <source>grows with every token</source>
        <translation>토큰마다 늘어남</translation>
    </message>
    <message>
        <source>stops growing when its window is full</source>
        <translation>윈도가 차면 더 늘지 않음</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>No model is ticked.</source>
        <translation>선택한 모델이 없습니다.</translation>
    </message>
    <message>
        <source>required, engine %1, %2, context %3</source>
        <translation>필요량, 엔진 %1, %2, 컨텍스트 %3</translation>
    </message>
    <message>
        <source>, %1 sequences</source>
        <translation>, 시퀀스 %1개</translation>
    </message>
    <message>
        <source>bytes per token, uncapped</source>
        <translation>토큰당 바이트, 상한 없음</translation>
    </message>
    <message>
        <source>KV cache per token</source>
        <translation>토큰당 KV 캐시</translation>
    </message>
    <message>
        <source>context %1</source>
        <translation>컨텍스트 %1</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>토큰</translation>
    </message>
    <message>
        <source>bytes, all sequences</source>
        <translation>바이트, 모든 시퀀스</translation>
    </message>
    <message>
        <source>Cache over context</source>
        <translation>컨텍스트에 따른 캐시</translation>
    </message>
    <message>
        <source>; ◇ a window is full; dotted past a model's own maximum</source>
        <translation>; ◇ 윈도가 가득 참; 모델의 최대를 지나면 점선</translation>
    </message>
    <message>
        <source>; at the context: %1</source>
        <translation>; 컨텍스트에서: %1</translation>
    </message>
    <message>
        <source>layer</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>What each layer keeps</source>
        <translation>레이어마다 보관하는 것</translation>
    </message>
    <message>
        <source>; height: bytes as a share of the model's largest layer</source>
        <translation>; 높이: 모델에서 가장 큰 레이어 대비 바이트</translation>
    </message>
    <message>
        <source>%1: predicted line, measured points</source>
        <translation>%1: 예측선과 측정점</translation>
    </message>
    <message>
        <source>; points measured: %1</source>
        <translation>; 측정한 점: %1</translation>
    </message>
    <message>
        <source>%1: expected a name ending in .svg, .pdf or .png</source>
        <translation>%1: .svg, .pdf, .png로 끝나는 이름이어야 합니다</translation>
    </message>
    <message>
        <source>%1: the chart could not be drawn</source>
        <translation>%1: 차트를 그리지 못했습니다</translation>
    </message>
    <message>
        <source>a plain transformer</source>
        <translation>일반 트랜스포머</translation>
    </message>
    <message>
        <source>model_type %1</source>
        <translation>model_type %1</translation>
    </message>
    <message>
        <source>one KV head for every query head in %1</source>
        <translation>%1에서는 쿼리 헤드마다 KV 헤드 하나</translation>
    </message>
    <message>
        <source>multi_query decides: one, or one for every query head</source>
        <translation>multi_query가 결정: 하나, 또는 쿼리 헤드마다 하나</translation>
    </message>
    <message>
        <source>multi_query_attention is off: one for every query head</source>
        <translation>multi_query_attention이 꺼짐: 쿼리 헤드마다 하나</translation>
    </message>
    <message>
        <source>the config has no attn_config to write it in</source>
        <translation>설정에 이를 쓸 attn_config가 없음</translation>
    </message>
    <message>
        <source>every layer is full in %1</source>
        <translation>%1에서는 모든 레이어가 전체 어텐션</translation>
    </message>
    <message>
        <source>all layers are alike in %1</source>
        <translation>%1에서는 모든 레이어가 같음</translation>
    </message>
    <message>
        <source>layers are named one by one in %1</source>
        <translation>%1에서는 레이어를 하나씩 적음</translation>
    </message>
    <message>
        <source>set a window first</source>
        <translation>먼저 윈도를 정하세요</translation>
    </message>
    <message>
        <source>the config names no layer that attends</source>
        <translation>설정에 어텐션 레이어가 없음</translation>
    </message>
    <message>
        <source>every layer attends in %1</source>
        <translation>%1에서는 모든 레이어가 어텐션을 함</translation>
    </message>
    <message>
        <source>which layers attend is listed in another way in %1; edit its file</source>
        <translation>%1에서는 어텐션 레이어를 다른 방식으로 적음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>the layers are counted from the pattern of %1</source>
        <translation>레이어 수는 %1의 패턴에서 셈</translation>
    </message>
    <message>
        <source>%1 names layers by number; edit the file</source>
        <translation>%1은(는) 레이어를 번호로 적음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>latent attention (MLA) keeps one latent for all heads</source>
        <translation>잠재 어텐션(MLA)은 모든 헤드에 잠재 벡터 하나를 보관</translation>
    </message>
    <message>
        <source>no layer of this model attends</source>
        <translation>이 모델에는 어텐션 레이어가 없음</translation>
    </message>
    <message>
        <source>compressed attention keeps one vector for all heads</source>
        <translation>압축 어텐션은 모든 헤드에 벡터 하나를 보관</translation>
    </message>
    <message>
        <source>every layer has KV heads of its own; edit the file</source>
        <translation>레이어마다 KV 헤드가 따로 있음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>it is written in the object attn; edit the file</source>
        <translation>attn 객체에 적혀 있음; 파일을 편집하세요</translation>
    </message>
    <message>
        <source>the latent rank takes its place in latent attention (MLA)</source>
        <translation>잠재 어텐션(MLA)에서는 잠재 랭크가 이를 대신함</translation>
    </message>
    <message>
        <source>it follows from hidden_size and the heads in %1</source>
        <translation>%1에서는 hidden_size와 헤드 수에서 정해짐</translation>
    </message>
    <message>
        <source>no layer has a window in %1</source>
        <translation>%1에는 윈도가 있는 레이어가 없음</translation>
    </message>
    <message>
        <source>no layer of this model has a window</source>
        <translation>이 모델에는 윈도가 있는 레이어가 없음</translation>
    </message>
    <message>
        <source>only latent attention (MLA) has one, and %1 has none</source>
        <translation>잠재 어텐션(MLA)에만 있으며 %1에는 없음</translation>
    </message>
    <message>
        <source>all layers are alike, or listed one by one, in %1</source>
        <translation>%1에서는 모든 레이어가 같거나 하나씩 적혀 있음</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::BudgetPage</name>
    <message>
        <source>any</source>
        <translation>무제한</translation>
    </message>
    <message>
        <source>✓ fits</source>
        <translation>✓ 들어감</translation>
    </message>
    <message>
        <source>✗ does not</source>
        <translation>✗ 안 들어감</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>가중치</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>작업 공간</translation>
    </message>
    <message>
        <source>Cache</source>
        <translation>캐시</translation>
    </message>
    <message>
        <source>Headroom</source>
        <translation>여유</translation>
    </message>
    <message>
        <source>Most sequences</source>
        <translation>최대 시퀀스</translation>
    </message>
    <message>
        <source>Longest context</source>
        <translation>최장 컨텍스트</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>장치</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>엔진</translation>
    </message>
    <message>
        <source>Tensor ranks</source>
        <translation>텐서 랭크</translation>
    </message>
    <message>
        <source>auto, or 16 GB</source>
        <translation>auto 또는 16 GB</translation>
    </message>
    <message>
        <source>Weights of the chosen model</source>
        <translation>선택한 모델의 가중치</translation>
    </message>
    <message>
        <source>&amp;Device</source>
        <translation>장치(&amp;D)</translation>
    </message>
    <message>
        <source>×</source>
        <translation>×</translation>
    </message>
    <message>
        <source>En&amp;gine</source>
        <translation>엔진(&amp;G)</translation>
    </message>
    <message>
        <source>%1; %2</source>
        <translation>%1; %2</translation>
    </message>
    <message>
        <source>1</source>
        <translation>1</translation>
    </message>
    <message>
        <source>%1 (TP)</source>
        <translation>%1 (TP)</translation>
    </message>
    <message>
        <source>Budgets of the ticked models</source>
        <translation>선택한 모델들의 메모리 예산</translation>
    </message>
    <message>
        <source>Budget of the chosen model</source>
        <translation>선택한 모델의 메모리 예산</translation>
    </message>
    <message>
        <source>&amp;Weights of %1</source>
        <translation>%1의 가중치(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Weights</source>
        <translation>가중치(&amp;W)</translation>
    </message>
    <message>
        <source>&lt;p&gt;Tick a model to see what it needs.&lt;/p&gt;</source>
        <translation>&lt;p&gt;모델을 선택하면 필요한 메모리가 표시됩니다.&lt;/p&gt;</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ClaimsPage</name>
    <message>
        <source>Claim:</source>
        <translation>주장:</translation>
    </message>
    <message>
        <source>Claimed:</source>
        <translation>주장한 값:</translation>
    </message>
    <message>
        <source>Computed:</source>
        <translation>계산한 값:</translation>
    </message>
    <message>
        <source>Verdict:</source>
        <translation>판정:</translation>
    </message>
    <message>
        <source>Reading:</source>
        <translation>해석:</translation>
    </message>
    <message>
        <source>Notes:</source>
        <translation>비고:</translation>
    </message>
    <message>
        <source>Source:</source>
        <translation>출처:</translation>
    </message>
    <message>
        <source>Claim</source>
        <translation>주장</translation>
    </message>
    <message>
        <source>Claimed</source>
        <translation>주장한 값</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>계산한 값</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>판정</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>해석</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>출처</translation>
    </message>
    <message>
        <source>Claims</source>
        <translation>주장</translation>
    </message>
    <message>
        <source>The chosen claim</source>
        <translation>선택한 주장</translation>
    </message>
    <message>
        <source>Claims file</source>
        <translation>주장 파일</translation>
    </message>
    <message>
        <source>seed: the story</source>
        <translation>seed: 기본 이야기</translation>
    </message>
    <message>
        <source>gallery: 72 published figures</source>
        <translation>gallery: 공개된 수치 72개</translation>
    </message>
    <message>
        <source>Search claims</source>
        <translation>주장 검색</translation>
    </message>
    <message>
        <source>Open &amp;file…</source>
        <translation>파일 열기(&amp;F)…</translation>
    </message>
    <message>
        <source>Open claims</source>
        <translation>주장 파일 열기</translation>
    </message>
    <message>
        <source>Claims (*.json);;All files (*)</source>
        <translation>주장 (*.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>Not opened: %1</source>
        <translation>열지 못함: %1</translation>
    </message>
    <message>
        <source>%1 of %2 are consistent as written</source>
        <translation>%2개 중 %1개가 쓰인 그대로 일치합니다</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::CompareModel</name>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>어텐션</translation>
    </message>
    <message>
        <source>Uncapped
per token</source>
        <translation>토큰당
상한 없음</translation>
    </message>
    <message>
        <source>Growth
per token</source>
        <translation>토큰당
증가분</translation>
    </message>
    <message>
        <source>Constant</source>
        <translation>고정분</translation>
    </message>
    <message>
        <source>Total at
%1</source>
        <translation>합계
%1</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>비율</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>Uncapped (B/token)</source>
        <translation>상한 없음 (B/토큰)</translation>
    </message>
    <message>
        <source>Growth (B/token)</source>
        <translation>증가분 (B/토큰)</translation>
    </message>
    <message>
        <source>Constant (B/sequence)</source>
        <translation>고정분 (B/시퀀스)</translation>
    </message>
    <message>
        <source>Total at %1 tokens, %2 sequence(s) (B)</source>
        <translation>토큰 %1개, 시퀀스 %2개에서의 합계 (B)</translation>
    </message>
    <message>
        <source>Ratio to %1</source>
        <translation>%1 대비 비율</translation>
    </message>
    <message>
        <source>Bold: the baseline. Choose another in the context menu.</source>
        <translation>굵은 글씨: 기준 모델. 컨텍스트 메뉴에서 바꿀 수 있습니다.</translation>
    </message>
    <message>
        <source>The kinds of layers, in order of appearance</source>
        <translation>나타나는 순서대로 본 레이어 종류</translation>
    </message>
    <message>
        <source>Every attention layer counted as growing: what most published tables print</source>
        <translation>모든 어텐션 레이어가 늘어난다고 센 값: 공개된 표 대부분이 싣는 수치</translation>
    </message>
    <message>
        <source>What one more token adds at the model's maximum context</source>
        <translation>모델의 최대 컨텍스트에서 토큰 하나가 더하는 양</translation>
    </message>
    <message>
        <source>Full windows and states, per sequence</source>
        <translation>가득 찬 윈도와 상태, 시퀀스당</translation>
    </message>
    <message>
        <source>All sequences at the chosen context</source>
        <translation>선택한 컨텍스트에서 모든 시퀀스의 합</translation>
    </message>
    <message>
        <source>Total at the context as a multiple of that of %1</source>
        <translation>컨텍스트에서의 합계가 %1의 몇 배인지</translation>
    </message>
    <message>
        <source>Layers that the model's config counts</source>
        <translation>모델 설정이 세는 레이어 수</translation>
    </message>
    <message>
        <source>the baseline</source>
        <translation>기준</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ComparePage</name>
    <message>
        <source>Figures of the ticked models</source>
        <translation>선택한 모델들의 수치</translation>
    </message>
    <message>
        <source>Use as &amp;baseline</source>
        <translation>기준으로 사용(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Remove from the comparison</source>
        <translation>비교에서 빼기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Copy table</source>
        <translation>표 복사(&amp;C)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ExplainPanel</name>
    <message>
        <source>Figure to explain</source>
        <translation>설명할 수치</translation>
    </message>
    <message>
        <source>Uncapped per token</source>
        <translation>토큰당, 상한 없음</translation>
    </message>
    <message>
        <source>Growth per token</source>
        <translation>토큰당 증가분</translation>
    </message>
    <message>
        <source>Constant per sequence</source>
        <translation>시퀀스당 고정분</translation>
    </message>
    <message>
        <source>Total at the context</source>
        <translation>컨텍스트에서의 합계</translation>
    </message>
    <message>
        <source>Terms of the figure</source>
        <translation>수치의 항</translation>
    </message>
    <message>
        <source>No model</source>
        <translation>모델 없음</translation>
    </message>
    <message>
        <source>&lt;p&gt;Tick a model in the list to see how its figures are made up.&lt;/p&gt;</source>
        <translation>&lt;p&gt;목록에서 모델을 선택하면 수치가 어떻게 이루어지는지 표시됩니다.&lt;/p&gt;</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::FormatBox</name>
    <message>
        <source>auto (%1)</source>
        <translation>auto (%1)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::LayersPage</name>
    <message>
        <source>Layer</source>
        <translation>레이어</translation>
    </message>
    <message>
        <source>&lt;p style='margin:0'&gt;&lt;b&gt;%1, layer %2: %3&lt;/b&gt;&lt;br&gt;decided by %4&lt;/p&gt;</source>
        <translation>&lt;p style='margin:0'&gt;&lt;b&gt;%1, 레이어 %2: %3&lt;/b&gt;&lt;br&gt;결정한 것: %4&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&lt;p style='margin:0'&gt;reads the cache of layer %1&lt;/p&gt;</source>
        <translation>&lt;p style='margin:0'&gt;레이어 %1의 캐시를 읽음&lt;/p&gt;</translation>
    </message>
    <message>
        <source>&lt;table cellspacing='0' cellpadding='3'&gt;&lt;tr&gt;&lt;th align='left'&gt;component&lt;/th&gt;&lt;th align='left'&gt;one unit&lt;/th&gt;&lt;th align='left'&gt;units&lt;/th&gt;&lt;th align='left'&gt;format&lt;/th&gt;&lt;th align='right'&gt;bytes at %1&lt;/th&gt;&lt;/tr&gt;</source>
        <translation>&lt;table cellspacing='0' cellpadding='3'&gt;&lt;tr&gt;&lt;th align='left'&gt;구성 요소&lt;/th&gt;&lt;th align='left'&gt;한 단위&lt;/th&gt;&lt;th align='left'&gt;단위 수&lt;/th&gt;&lt;th align='left'&gt;형식&lt;/th&gt;&lt;th align='right'&gt;%1에서의 바이트&lt;/th&gt;&lt;/tr&gt;</translation>
    </message>
    <message>
        <source>Model whose layer is shown</source>
        <translation>레이어를 보여 줄 모델</translation>
    </message>
    <message>
        <source>What the layer keeps</source>
        <translation>레이어가 보관하는 것</translation>
    </message>
    <message>
        <source>&amp;Layer</source>
        <translation>레이어(&amp;L)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::LogSlider</name>
    <message>
        <source>%1, logarithmic slider</source>
        <translation>%1, 로그 슬라이더</translation>
    </message>
    <message>
        <source>%1 — accepts 100000, 128K or 1M</source>
        <translation>%1 — 100000, 128K, 1M처럼 입력</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::MainWindow</name>
    <message>
        <source>&amp;Compare</source>
        <translation>비교(&amp;C)</translation>
    </message>
    <message>
        <source>C&amp;ontext</source>
        <translation>컨텍스트(&amp;O)</translation>
    </message>
    <message>
        <source>L&amp;ayers</source>
        <translation>레이어(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Budget</source>
        <translation>예산(&amp;B)</translation>
    </message>
    <message>
        <source>Clai&amp;ms</source>
        <translation>주장(&amp;M)</translation>
    </message>
    <message>
        <source>Veri&amp;fy</source>
        <translation>검증(&amp;F)</translation>
    </message>
    <message>
        <source>Scenario</source>
        <translation>시나리오</translation>
    </message>
    <message>
        <source>Explain</source>
        <translation>설명</translation>
    </message>
    <message>
        <source>Edit model</source>
        <translation>모델 편집</translation>
    </message>
    <message>
        <source>Not opened: %1</source>
        <translation>열지 못함: %1</translation>
    </message>
    <message>
        <source>Only files and folders of this machine can be dropped here.</source>
        <translation>이 컴퓨터의 파일과 폴더만 끌어다 놓을 수 있습니다.</translation>
    </message>
    <message>
        <source>&amp;New study</source>
        <translation>새 연구(&amp;N)</translation>
    </message>
    <message>
        <source>Start over with the opening comparison</source>
        <translation>처음의 비교로 새로 시작</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>열기(&amp;O)…</translation>
    </message>
    <message>
        <source>Open a study, or add the model of a config.json to this one</source>
        <translation>연구를 열거나 config.json의 모델을 이 연구에 더하기</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>최근 항목(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Save study</source>
        <translation>연구 저장(&amp;S)</translation>
    </message>
    <message>
        <source>Save study &amp;as…</source>
        <translation>다른 이름으로 저장(&amp;A)…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+S</source>
        <translation>Ctrl+Shift+S</translation>
    </message>
    <message>
        <source>Open a study or models</source>
        <translation>연구나 모델 열기</translation>
    </message>
    <message>
        <source>Studies and models (*.json *.gguf);;Studies (*.kvstudy.json);;All files (*)</source>
        <translation>연구와 모델 (*.json *.gguf);;연구 (*.kvstudy.json);;모든 파일 (*)</translation>
    </message>
    <message>
        <source>A study is opened alone: %1; the other files were left out.</source>
        <translation>연구는 하나만 열립니다: %1; 다른 파일은 제외했습니다.</translation>
    </message>
    <message>
        <source>Not pasted: %1</source>
        <translation>붙여넣지 못함: %1</translation>
    </message>
    <message>
        <source>Save study</source>
        <translation>연구 저장</translation>
    </message>
    <message>
        <source>Studies (*.kvstudy.json)</source>
        <translation>연구 (*.kvstudy.json)</translation>
    </message>
    <message>
        <source>Replace %1?</source>
        <translation>%1을(를) 바꿀까요?</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>저장하지 못함: %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>저장함: %1</translation>
    </message>
    <message>
        <source>Unsaved study</source>
        <translation>저장하지 않은 연구</translation>
    </message>
    <message>
        <source>Save the changes to %1?</source>
        <translation>%1의 변경 사항을 저장할까요?</translation>
    </message>
    <message>
        <source>&amp;Clear this list</source>
        <translation>목록 비우기(&amp;C)</translation>
    </message>
    <message>
        <source>%1[*] — kvcaliper</source>
        <translation>%1[*] — kvcaliper</translation>
    </message>
    <message>
        <source>Unsaved edits could not be kept: %1</source>
        <translation>저장하지 않은 편집을 보관하지 못함: %1</translation>
    </message>
    <message>
        <source>kvcaliper ended on %1 with unsaved edits to a study.</source>
        <translation>kvcaliper가 %1에 저장하지 않은 편집을 남기고 끝났습니다.</translation>
    </message>
    <message>
        <source>&amp;Recover them</source>
        <translation>복구(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Discard them</source>
        <translation>버리기(&amp;D)</translation>
    </message>
    <message>
        <source>Ask &amp;later</source>
        <translation>나중에 묻기(&amp;L)</translation>
    </message>
    <message>
        <source>Not recovered: %1</source>
        <translation>복구하지 못함: %1</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>파일(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Export chart…</source>
        <translation>차트 내보내기(&amp;E)…</translation>
    </message>
    <message>
        <source>Ctrl+E</source>
        <translation>Ctrl+E</translation>
    </message>
    <message>
        <source>Write the chart of this page as SVG, PDF or PNG</source>
        <translation>이 페이지의 차트를 SVG, PDF, PNG로 쓰기</translation>
    </message>
    <message>
        <source>Export &amp;table…</source>
        <translation>표 내보내기(&amp;T)…</translation>
    </message>
    <message>
        <source>Ctrl+Shift+E</source>
        <translation>Ctrl+Shift+E</translation>
    </message>
    <message>
        <source>Write the table of this page as CSV, with exact bytes</source>
        <translation>이 페이지의 표를 정확한 바이트로 CSV에 쓰기</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>끝내기(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>편집(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>실행 취소(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>다시 실행(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Copy table</source>
        <translation>표 복사(&amp;C)</translation>
    </message>
    <message>
        <source>Ctrl+Shift+C</source>
        <translation>Ctrl+Shift+C</translation>
    </message>
    <message>
        <source>&amp;Paste model</source>
        <translation>모델 붙여넣기(&amp;P)</translation>
    </message>
    <message>
        <source>Add the config.json on the clipboard to the comparison</source>
        <translation>클립보드의 config.json을 비교에 더하기</translation>
    </message>
    <message>
        <source>Edit a copy of the &amp;model</source>
        <translation>모델 사본 편집(&amp;M)</translation>
    </message>
    <message>
        <source>Ctrl+M</source>
        <translation>Ctrl+M</translation>
    </message>
    <message>
        <source>Change layers, heads, window or rank of the chosen model and compare</source>
        <translation>선택한 모델의 레이어, 헤드, 윈도, 랭크를 바꾸어 비교</translation>
    </message>
    <message>
        <source>&amp;Find a model</source>
        <translation>모델 찾기(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>보기(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Restore default layout</source>
        <translation>기본 배치로 되돌리기(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>테마(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>밝게(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>어둡게(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;System</source>
        <translation>시스템(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>도움말(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;About kvcaliper</source>
        <translation>kvcaliper 정보(&amp;A)</translation>
    </message>
    <message>
        <source>About &amp;Qt</source>
        <translation>Qt 정보(&amp;Q)</translation>
    </message>
    <message>
        <source>This page has no chart; its table can be exported.</source>
        <translation>이 페이지에는 차트가 없습니다. 표는 내보낼 수 있습니다.</translation>
    </message>
    <message>
        <source>Export chart</source>
        <translation>차트 내보내기</translation>
    </message>
    <message>
        <source>Charts (*.svg *.pdf *.png);;SVG (*.svg);;PDF (*.pdf);;PNG (*.png)</source>
        <translation>차트 (*.svg *.pdf *.png);;SVG (*.svg);;PDF (*.pdf);;PNG (*.png)</translation>
    </message>
    <message>
        <source>Not written: %1</source>
        <translation>쓰지 못함: %1</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>썼음: %1</translation>
    </message>
    <message>
        <source>Export table</source>
        <translation>표 내보내기</translation>
    </message>
    <message>
        <source>CSV (*.csv)</source>
        <translation>CSV (*.csv)</translation>
    </message>
    <message>
        <source>The table is on the clipboard, in exact bytes.</source>
        <translation>표를 정확한 바이트로 클립보드에 복사했습니다.</translation>
    </message>
    <message>
        <source>About kvcaliper</source>
        <translation>kvcaliper 정보</translation>
    </message>
    <message>
        <source>&lt;h3&gt;kvcaliper %1&lt;/h3&gt;&lt;p&gt;What a language model keeps in memory while it generates text, to the byte, and a measurement that agrees.&lt;/p&gt;&lt;p&gt;This window is free software under the GNU General Public License, version 3 or later. Calculation core, kernels, command line and model files: Apache License 2.0.&lt;/p&gt;&lt;p&gt;Built on Qt %2 (LGPL 3) and QCustomPlot 2.1 (GPL 3 or later).&lt;/p&gt;</source>
        <translation>&lt;h3&gt;kvcaliper %1&lt;/h3&gt;&lt;p&gt;언어 모델이 텍스트를 생성하는 동안 메모리에 보관하는 것을 바이트까지 계산하고, 그와 일치하는 측정으로 확인합니다.&lt;/p&gt;&lt;p&gt;이 창은 GNU 일반 공중 사용 허가서 3판 이상을 따르는 자유 소프트웨어입니다. 계산 코어, 커널, 명령줄, 모델 파일: Apache License 2.0.&lt;/p&gt;&lt;p&gt;Qt %2 (LGPL 3)와 QCustomPlot 2.1 (GPL 3 이상)로 만들었습니다.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>High &amp;contrast</source>
        <translation>고대비(&amp;C)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ModelEditor</name>
    <message>
        <source>&amp;Layers</source>
        <translation>레이어(&amp;L)</translation>
    </message>
    <message>
        <source>KV &amp;heads</source>
        <translation>KV 헤드(&amp;H)</translation>
    </message>
    <message>
        <source>Head &amp;width</source>
        <translation>헤드 너비(&amp;W)</translation>
    </message>
    <message>
        <source>W&amp;indow, tokens</source>
        <translation>윈도, 토큰(&amp;I)</translation>
    </message>
    <message>
        <source>Latent &amp;rank</source>
        <translation>잠재 랭크(&amp;R)</translation>
    </message>
    <message>
        <source>F&amp;ull layers: one in</source>
        <translation>전체 레이어: 몇 개마다 하나(&amp;U)</translation>
    </message>
    <message>
        <source>irregular</source>
        <translation>불규칙</translation>
    </message>
    <message>
        <source>none</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>1, multi-query</source>
        <translation>1, 멀티 쿼리</translation>
    </message>
    <message>
        <source>%1, all of them</source>
        <translation>%1, 전부</translation>
    </message>
    <message>
        <source>%1, grouped</source>
        <translation>%1, 그룹</translation>
    </message>
    <message>
        <source>%1 (÷%2)</source>
        <translation>%1 (÷%2)</translation>
    </message>
    <message>
        <source>%1 (×%2)</source>
        <translation>%1 (×%2)</translation>
    </message>
    <message>
        <source>&amp;Back to the original</source>
        <translation>원래대로(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Save as config.json…</source>
        <translation>config.json으로 저장(&amp;S)…</translation>
    </message>
    <message>
        <source>%1 in the config</source>
        <translation>설정의 %1</translation>
    </message>
    <message>
        <source>was %1</source>
        <translation>이전 값 %1</translation>
    </message>
    <message>
        <source>Tick a model to edit a copy of it.</source>
        <translation>모델을 선택하면 그 사본을 편집할 수 있습니다.</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;A change makes a copy beside it.</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;바꾸면 옆에 사본이 생깁니다.</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;from %2</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;&lt;br&gt;%2에서</translation>
    </message>
    <message>
        <source>Uncapped per token: %1&lt;br&gt;Growth per token: %2&lt;br&gt;Total at %3: %4</source>
        <translation>토큰당, 상한 없음: %1&lt;br&gt;토큰당 증가분: %2&lt;br&gt;%3에서의 합계: %4</translation>
    </message>
    <message>
        <source>Not possible: %1</source>
        <translation>불가능: %1</translation>
    </message>
    <message>
        <source>no model is chosen</source>
        <translation>선택한 모델이 없음</translation>
    </message>
    <message>
        <source>Save the model's config</source>
        <translation>모델의 설정 저장</translation>
    </message>
    <message>
        <source>Model configs (*.json)</source>
        <translation>모델 설정 (*.json)</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>저장하지 못함: %1</translation>
    </message>
    <message>
        <source>Saved: %1</source>
        <translation>저장함: %1</translation>
    </message>
    <message>
        <source>%1 (edited)</source>
        <translation>%1 (편집)</translation>
    </message>
    <message>
        <source>%1 (edited %2)</source>
        <translation>%1 (편집 %2)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ModelList</name>
    <message>
        <source>%1 — %2</source>
        <translation>%1 — %2</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::NoticeBar</name>
    <message>
        <source>Notice</source>
        <translation>알림</translation>
    </message>
    <message>
        <source>&amp;Close</source>
        <translation>닫기(&amp;C)</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::SampleModel</name>
    <message>
        <source>requested %1 B</source>
        <translation>요청 %1 B</translation>
    </message>
    <message>
        <source>%1; the device says %2 B</source>
        <translation>%1; 장치 보고 %2 B</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>토큰</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>구성 요소</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>예측</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>측정</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>차이</translation>
    </message>
    <message>
        <source>Max. error (bound)</source>
        <translation>최대 오차 (한계)</translation>
    </message>
    <message>
        <source>Read, GB/s</source>
        <translation>읽기, GB/s</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::ScenarioPanel</name>
    <message>
        <source>Conte&amp;xt, tokens</source>
        <translation>컨텍스트, 토큰(&amp;X)</translation>
    </message>
    <message>
        <source>Se&amp;quences</source>
        <translation>시퀀스(&amp;Q)</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>모델 검색</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>&amp;Models</source>
        <translation>모델(&amp;M)</translation>
    </message>
    <message>
        <source>K format</source>
        <translation>K 형식</translation>
    </message>
    <message>
        <source>V format</source>
        <translation>V 형식</translation>
    </message>
    <message>
        <source>&amp;K format</source>
        <translation>K 형식(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;V format</source>
        <translation>V 형식(&amp;V)</translation>
    </message>
    <message>
        <source>%1 of %2 ticked; drop a config.json here</source>
        <translation>%2개 중 %1개 선택; config.json을 여기에 끌어다 놓으세요</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::Study</name>
    <message>
        <source>%1 tokens</source>
        <translation>토큰 %1개</translation>
    </message>
    <message>
        <source>model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>%1 (pasted)</source>
        <translation>%1 (붙여넣음)</translation>
    </message>
    <message>
        <source>%1 (pasted %2)</source>
        <translation>%1 (붙여넣음 %2)</translation>
    </message>
    <message>
        <source>Choose models</source>
        <translation>모델 선택</translation>
    </message>
    <message>
        <source>Add %1</source>
        <translation>%1 더하기</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 빼기</translation>
    </message>
    <message>
        <source>Choose baseline</source>
        <translation>기준 선택</translation>
    </message>
    <message>
        <source>Change context</source>
        <translation>컨텍스트 변경</translation>
    </message>
    <message>
        <source>Change sequences</source>
        <translation>시퀀스 변경</translation>
    </message>
    <message>
        <source>Change K format</source>
        <translation>K 형식 변경</translation>
    </message>
    <message>
        <source>Change V format</source>
        <translation>V 형식 변경</translation>
    </message>
    <message>
        <source>Change the budget</source>
        <translation>예산 변경</translation>
    </message>
    <message>
        <source>Choose device</source>
        <translation>장치 선택</translation>
    </message>
    <message>
        <source>Choose engine</source>
        <translation>엔진 선택</translation>
    </message>
    <message>
        <source>Change tensor ranks</source>
        <translation>텐서 랭크 변경</translation>
    </message>
    <message>
        <source>Set weights of %1</source>
        <translation>%1의 가중치 설정</translation>
    </message>
    <message>
        <source>Edit %1</source>
        <translation>%1 편집</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::StudySession</name>
    <message>
        <source>Untitled study</source>
        <translation>제목 없는 연구</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::VerifyPage</name>
    <message>
        <source>&amp;Run verification</source>
        <translation>검증 실행(&amp;R)</translation>
    </message>
    <message>
        <source>Ca&amp;ncel</source>
        <translation>취소(&amp;N)</translation>
    </message>
    <message>
        <source>Model to verify</source>
        <translation>검증할 모델</translation>
    </message>
    <message>
        <source>Progress of the verification</source>
        <translation>검증 진행</translation>
    </message>
    <message>
        <source>Measured components</source>
        <translation>측정한 구성 요소</translation>
    </message>
    <message>
        <source>Mo&amp;del</source>
        <translation>모델(&amp;D)</translation>
    </message>
    <message>
        <source>Measuring on %1 …</source>
        <translation>%1에서 측정 중 …</translation>
    </message>
    <message>
        <source>needs %1, limit %2</source>
        <translation>필요 %1, 한도 %2</translation>
    </message>
    <message>
        <source>No result: %1</source>
        <translation>결과 없음: %1</translation>
    </message>
    <message>
        <source>Allocates what the model keeps, runs decode steps through our own kernels and compares what was used with what was predicted.</source>
        <translation>모델이 보관하는 만큼 할당하고, 자체 커널로 디코드 단계를 실행하여 사용량을 예측과 비교합니다.</translation>
    </message>
    <message>
        <source>Starting …</source>
        <translation>시작하는 중 …</translation>
    </message>
    <message>
        <source>✓ Equal to the byte: measured what was predicted, on %1.</source>
        <translation>✓ 바이트까지 일치: %1에서 예측한 만큼 측정됨.</translation>
    </message>
    <message>
        <source>✗ Refuted: measured something else than predicted, on %1.</source>
        <translation>✗ 반증됨: %1에서 예측과 다르게 측정됨.</translation>
    </message>
    <message>
        <source>Disturbed: other programs changed the memory of %1; run again.</source>
        <translation>방해받음: 다른 프로그램이 %1의 메모리를 바꾸었습니다. 다시 실행하세요.</translation>
    </message>
    <message>
        <source>Refused by %1:</source>
        <translation>%1이(가) 거부함:</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <translation>취소했습니다.</translation>
    </message>
</context>
<context>
    <name>kvcaliper::gui::VerifyRun</name>
    <message>
        <source>The verifier is not installed. Looked at KVCALIPER_VERIFY (%1) and %2.</source>
        <translation>검증 프로그램이 설치되어 있지 않습니다. KVCALIPER_VERIFY (%1)와 %2을(를) 찾아보았습니다.</translation>
    </message>
    <message>
        <source>not set</source>
        <translation>설정 안 됨</translation>
    </message>
    <message>
        <source>%1 could not be started: %2</source>
        <translation>%1을(를) 시작하지 못함: %2</translation>
    </message>
    <message>
        <source>The verifier said something unexpected: %1</source>
        <translation>검증 프로그램이 예상 밖의 말을 함: %1</translation>
    </message>
    <message>
        <source>The verifier ended without a result (%1)%2</source>
        <translation>검증 프로그램이 결과 없이 끝남 (%1)%2</translation>
    </message>
    <message>
        <source>it died</source>
        <translation>비정상 종료</translation>
    </message>
    <message>
        <source>exit code %1</source>
        <translation>종료 코드 %1</translation>
    </message>
</context>
</TS>
